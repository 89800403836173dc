import Foundation
import TestSupport
import Testing

@testable import ChangeCapture

@Suite struct DatabaseLocationTests {
  @Test func `links are followed, and a missing file is looked for in its directory`() throws {
    let folder = try TemporaryFolder()
    let manager = FileManager.default
    let real = try #require(OperatingSystem.realPath(folder.path))
    try manager.createDirectory(atPath: folder.file("a"), withIntermediateDirectories: false)
    try manager.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "a")
    try manager.createSymbolicLink(
      atPath: folder.file("music.db"), withDestinationPath: "link/real.db")
    let missing = DatabaseLocation(resolving: folder.file("link/real.db"))
    #expect(missing?.directory == real + "/a")
    #expect(missing?.fileName == "real.db")
    #expect(manager.createFile(atPath: folder.file("a/real.db"), contents: nil))
    #expect(DatabaseLocation(resolving: folder.file("music.db")) == missing)
    #expect(DatabaseLocation(resolving: folder.file("no/music.db")) == nil)
    #expect(DatabaseLocation(resolving: "/music.db")?.directory == "/")
    #expect(DatabaseLocation(resolving: "music.db")?.fileName == "music.db")
  }

  @Test func `only the file, its log and its journal concern the database`() throws {
    let location = try #require(DatabaseLocation(resolving: "/tmp/music.db"))
    func touched(_ name: String, _ kinds: DirectoryNotification.Kinds) -> TouchedFiles {
      location.touched(by: DirectoryNotification(watch: 1, kinds: kinds, name: name))
    }
    #expect(touched("music.db", .content) == .database)
    #expect(touched("music.db-wal", .content) == .log)
    #expect(touched("music.db-journal", .content) == .journal)
    #expect(touched("music.db", .entry) == .entry)
    #expect(touched("music.db-wal", .entry) == .entry)
    #expect(touched("music.db-shm", .entry) == .entry)
    // Only cutting it off is told at all: connections write into it through memory.
    #expect(touched("music.db-shm", .content) == .entry)
    // One comes and goes with each transaction, and none is kept open.
    #expect(touched("music.db-journal", .entry) == .journal)
    #expect(touched("", .lost) == .directory)
    #expect(touched("", .overflow) == .unknown)
    for name in ["music.dbx", "music", "other.db", "other.db-wal", ""] {
      #expect(touched(name, .content) == [], "\(name)")
    }
  }

  @Test func `entries of the system's queue are read, and broken ones are not`() {
    func entry(_ watch: Int32, _ mask: UInt32, _ name: [UInt8]) -> [UInt8] {
      [UInt32(bitPattern: watch), mask, 0, UInt32(name.count)].flatMap {
        withUnsafeBytes(of: $0, Array.init)
      } + name
    }
    let modify: UInt32 = 2
    let bytes =
      entry(1, modify, Array("a\0\0\0\0\0\0\0".utf8)) + entry(2, modify, [])
      + entry(3, modify, Array("unpadded".utf8))
    for count in 0...bytes.count {
      var names: [String] = []
      bytes[..<count].withUnsafeBytes {
        DirectoryNotification.parse($0) { names.append($0.name) }
      }
      #expect(names == Array(["a", "", "unpadded"].prefix(names.count)))
      #expect(names.count == (count < 24 ? 0 : count < 40 ? 1 : count < 64 ? 2 : 3))
    }
  }
}
