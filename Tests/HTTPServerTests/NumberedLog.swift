import Dispatch
import Foundation
import HTTP1
import HTTPServer
import Locks
import TestSupport
import Testing

/// A broadcast with units that say which they are: `a12:3:xxx;` is the unit 12 of the log `a`, with
/// three more bytes.
final class NumberedLog: Sendable {
  let name: String
  let broadcast: Broadcast
  /// Before each unit, and after the last.
  private let positions: Mutex<[Broadcast.Position]>

  init(_ name: String, capacity: Int = 200_000_000) {
    self.name = name
    broadcast = Broadcast(capacity: capacity)
    positions = Mutex([broadcast.end])
  }

  /// Appends a unit, which the loops show, or as far as may be this thread.
  func append(size: Int = 0, isShownHere: Bool = false) {
    var sleeping: [SleepingStreams] = []
    positions.withLock { positions in
      let unit = "\(name)\(positions.count - 1):\(size):" + String(repeating: "x", count: size)
      positions.append(broadcast.append(Array((unit + ";").utf8), leaving: &sleeping))
    }
    for streams in sleeping {
      if isShownHere { streams.serveHere() } else { streams.wake() }
    }
  }

  /// The number of units, of which there are no more until `body` is over.
  @discardableResult
  func count(_ body: () -> Void = {}) -> Int {
    positions.withLock { positions in
      body()
      return positions.count - 1
    }
  }

  /// The number of the unit behind a position.
  func number(at position: Broadcast.Position) -> Int? {
    positions.withLock { $0.lastIndex(of: position) }
  }

  func position(of number: Int) -> Broadcast.Position { positions.withLock { $0[number] } }

  /// The names of some units.
  func names(_ numbers: Range<Int>) -> [String] { numbers.map { "\(name)\($0)" } }
}

/// Runs a test while some threads append to logs, about one unit in a millisecond each.
func whileAppending<Result>(
  to logs: [NumberedLog], threads: Int = 4, largest: Int = 0, _ body: () throws -> Result
) rethrows -> Result {
  let isOver = Atomic(false)
  let group = DispatchGroup()
  for thread in 0..<threads {
    DispatchQueue(label: "appending.\(thread)").async(group: group) {
      var random = RandomSource(seed: RandomSource.seed &+ UInt64(thread))
      while !isOver.load(ordering: .relaxed) {
        let size = random.once(in: 20) ? random.number(0...largest) : 0
        random.pick(logs).append(size: size, isShownHere: random.once(in: 2))
        if !random.once(in: 4) { pause() }
      }
    }
  }
  defer {
    isOver.store(true, ordering: .relaxed)
    group.wait()
  }
  return try body()
}

enum StreamVersion: String, CaseIterable, Sendable {
  case http10 = "HTTP/1.0"
  case http11 = "HTTP/1.1"
}

/// A client of a stream of which each piece ends with a semicolon.
struct UnitReader {
  let client: RawClient
  let version: StreamVersion

  init(
    _ server: TestServer, _ version: StreamVersion = .http11, target: String = "/",
    receiveBuffer: Int32? = nil
  ) throws {
    client = try RawClient(port: server.port, receiveBuffer: receiveBuffer)
    self.version = version
    _ = try client.begin(
      "GET \(target) \(version.rawValue)", host: version == .http10 ? "" : "Host: a\r\n")
  }

  /// The name of the next unit, which must be whole, or another piece without its semicolon; nil is
  /// the end.
  func next() throws -> String? {
    guard let piece = version == .http11 ? try client.readChunk() : try pieceWithoutFrame() else {
      return nil
    }
    #expect(piece.last == UInt8(ascii: ";"), "a unit is torn")
    let head = piece.prefix(30).split(separator: UInt8(ascii: ":"))
    let name = String(decoding: head[0], as: UTF8.self)
    guard head.count > 1, let size = Int(String(decoding: head[1], as: UTF8.self)) else {
      return String(name.dropLast())
    }
    #expect(piece.count == head[0].count + head[1].count + size + 3, "\(name) is torn")
    return name
  }

  func next(_ count: Int) throws -> [String] {
    var names: [String] = []
    while names.count < count, let name = try next() { names.append(name) }
    return names
  }

  func nextToEnd() throws -> [String] { try next(.max) }

  private func pieceWithoutFrame() throws -> [UInt8]? {
    while true {
      let end = client.received.withUnsafeBytes { bytes in
        bytes.baseAddress.flatMap { start in
          memchr(start, Int32(UInt8(ascii: ";")), bytes.count).map { UnsafeRawPointer($0) - start }
        }
      }
      if let end { return try client.read(count: end + 1) }
      if client.isAtEnd {
        #expect(client.received.isEmpty, "a unit is torn")
        return nil
      }
      guard try client.readMore() else {
        throw RawClient.Failure(description: "nothing came")
      }
    }
  }
}
