import Foundation

/// DifferenceKit's diff in a process of its own, which takes turns with ours.
final class DifferenceKitPeer {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  /// Starts the peer with records whose keys count from 0, and the keys of the new ones.
  init(_ path: String, oldCount: Int, newKeys: [Int]) throws {
    process.executableURL = URL(fileURLWithPath: path)
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try send(([oldCount] + newKeys).map(String.init).joined(separator: " "))
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// One diff: its milliseconds, and how many changes it has.
  func diff() throws -> (milliseconds: Double, changes: String) {
    try send("")
    var answer = Data()
    while answer.last != UInt8(ascii: "\n") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw PeerEnded() }
      answer += more
    }
    let words = String(decoding: answer, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let time = Double(words[0]) else { throw PeerEnded() }
    return (time, String(words[1]))
  }

  private func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  struct PeerEnded: Error {}
}
