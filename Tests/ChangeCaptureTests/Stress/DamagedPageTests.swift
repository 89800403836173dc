import Foundation
import GRDB
import Hashing
import OrderedResults
import TestSupport
import Testing

@testable import ChangeCapture

/// Pages of a database in memory, to be damaged.
private final class MemoryPages: DatabasePages {
  var pages: [[UInt8]]
  private(set) var layout: FileHeader
  var pageCount: UInt32 { UInt32(pages.count) }

  init(_ path: String) throws {
    // All connections to the file are closed, so no locks are lost by reading it like this.
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    layout = try bytes.withUnsafeBytes {
      try FileHeader(PageImage(number: 1, bytes: UnsafeRawBufferPointer(rebasing: $0[..<100])))
    }
    let size = layout.pageSize
    pages = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<($0 + size)]) }
  }

  /// Holds the image that was asked for last, at its exact size, so that the sanitizer sees any
  /// access behind it.
  private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)

  deinit { buffer.deallocate() }

  func page(_ number: UInt32) throws(CaptureDoubt) -> PageImage {
    guard number >= 1, number <= pageCount else { throw .malformedPage }
    buffer.deallocate()
    buffer = .allocate(byteCount: layout.usableSize, alignment: 1)
    buffer.copyBytes(from: pages[Int(number) - 1][..<layout.usableSize])
    return PageImage(number: number, bytes: UnsafeRawBufferPointer(buffer))
  }
}

@Suite struct `Damaged pages` {
  static let rounds = RandomSource.number("DIDCHANGE_STEPS") ?? 400

  @Test(.slow, arguments: [512, 4096, 65_536])
  func `end in a doubt or in a map, never in a crash`(_ pageSize: Int) throws {
    let (snapshot, roots) = try database(pageSize: pageSize)
    var random = RandomSource(seed: RandomSource.seed)
    print("damaged pages, DIDCHANGE_SEED=\(RandomSource.seed)")
    let whole = snapshot.pages
    var doubts = 0
    for _ in 0..<Self.rounds {
      snapshot.pages = whole
      var map = try BTreePages(roots: roots, from: snapshot)
      var outlines = try roots.enumerated().map { tree, root in
        try EntryCounts(of: tree, root: root, in: map, from: snapshot)
      }
      var changed = ChangedPages()
      for _ in 0..<random.number(1...6) {
        let page = random.number(1...whole.count)
        damage(&snapshot.pages[page - 1], whole, &random)
        changed.append(page: UInt32(page), frame: 1)
      }
      changed.finish()
      do {
        try map.update(changed: changed, from: snapshot)
        for index in outlines.indices {
          do {
            try outlines[index].update(changed: changed, in: map, from: snapshot)
            _ = try outlines[index].rowIDs(at: 0..<outlines[index].total, from: snapshot)
          } catch { doubts += 1 }
        }
        map.finishUpdate()
      } catch { doubts += 1 }
      do { try readEverything(roots, snapshot) } catch { doubts += 1 }
    }
    #expect(doubts > 0)
  }

  private func readEverything(
    _ roots: [UInt32], _ snapshot: MemoryPages
  ) throws(CaptureDoubt) {
    let map = try BTreePages(roots: roots, from: snapshot)
    var reader = LeafReader(digest: KeyedHash())
    var doubt: CaptureDoubt?
    for (tree, root) in roots.enumerated() {
      do {
        let outline = try EntryCounts(of: tree, root: root, in: map, from: snapshot)
        _ = try outline.rowIDs(at: 0..<outline.total, from: snapshot)
      } catch { doubt = error }
      do {
        let key =
          map.isTable[tree] ? nil : TableKey(columns: ["a", "b"], collations: [.noCase, .rtrim])
        let digests = CellDigests(
          table: "t", key: map.isTable[tree] ? nil : key,
          pages: map.pagesWithRows(of: tree, root: root))
        _ = try digests.read(atMost: .max, in: map, of: tree, reader: &reader, from: snapshot)
        for page in map.leaves(of: tree, root: root) {
          _ = try BTreePage(try snapshot.page(page)).overflowHeads(
            usableSize: snapshot.layout.usableSize)
        }
      } catch { doubt = error }
    }
    var unclaimed = UnclaimedPages()
    for page in 1...snapshot.pageCount { unclaimed.insert(page) }
    try unclaimed.removeFree(from: snapshot)
    if let doubt { throw doubt }
  }

  private func damage(_ page: inout [UInt8], _ whole: [[UInt8]], _ random: inout RandomSource) {
    switch random.number(0...5) {
    case 0: page = whole[random.number(0...(whole.count - 1))]
    case 1: page = page.map { _ in UInt8.random(in: 0...255, using: &random) }
    case 2:
      // The header and the first cell pointers.
      for _ in 0..<4 { page[random.number(0...40)] = UInt8.random(in: 0...255, using: &random) }
    case 3: page = page.map { _ in 0xff }
    default:
      for _ in 0..<random.number(1...20) {
        page[random.number(0...(page.count - 1))] = random.pick([0, 1, 0x7f, 0x80, 0xff, 13, 5])
      }
    }
  }

  /// A database with some of everything.
  private func database(pageSize: Int) throws -> (MemoryPages, [UInt32]) {
    let folder = try TemporaryFolder()
    var sql = RandomSQL(random: RandomSource(seed: 1), hasFullTextSearch: false)
    let writer = try DatabaseQueue(path: folder.file())
    let roots = try writer.writeWithoutTransaction { db in
      for statement in ["PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = 2"] + sql.schema {
        try db.execute(sql: statement)
      }
      for _ in 0..<600 { try? db.execute(sql: sql.change()) }
      return try SchemaMap(in: db).trees.map(\.root)
    }
    try writer.close()
    return (try MemoryPages(folder.file()), roots)
  }
}
