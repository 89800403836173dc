import Foundation
import HTTP1
import TestSupport
import Testing

@testable import HTTPServer

extension ByteLog {
  /// Everything that is held, with its frames.
  fileprivate var bytes: [UInt8] {
    var result: [UInt8] = []
    var position = start
    for segment in segments {
      let end = segment.base + segment.filled
      if end > position { result += segment.bytes(position..<end) }
      position = max(position, end)
    }
    return result
  }

  /// What must hold after each operation.
  fileprivate func checkInvariants() {
    #expect(start <= end)
    #expect(bytes.count == end - start, "\(bytes.count) bytes from \(start) to \(end)")
    var base = segments.first?.base ?? 0
    for segment in segments {
      #expect(segment.base == base, "a gap before \(segment.base)")
      #expect(segment.filled <= segment.capacity)
      #expect(segment.unitEnds.last ?? 0 == segment.filled)
      base += segment.filled
    }
    #expect(segments.isEmpty || base == end)
    let memory = segments.reduce(0) { $0 + $1.capacity }
    #expect(
      memory <= 2 * (end - start) + 3 * 64 * 1024, "\(memory) bytes for \(end - start)")
  }
}

@Test func `a log that begins anew is ahead of everything before`() {
  var log = ByteLog(capacity: 1000)
  log.append([1, 2, 3])
  let end = log.end
  log.restart()
  log.checkInvariants()
  #expect(log.start > end && log.start == log.end)
  log.append([4, 5])
  log.checkInvariants()
  #expect(log.bytes == Array("2\r\n".utf8) + [4, 5] + Array("\r\n".utf8))
}

@Test func `a log that forgets holds its newest unit, where it was`() {
  var log = ByteLog(capacity: 100_000)
  var hadOthers = log.forget()
  #expect(!hadOthers)
  for number in UInt8(0)..<50 { log.append([UInt8](repeating: number, count: 100)) }
  let end = log.end
  let view = log.segments
  hadOthers = log.forget()
  #expect(hadOthers)
  log.checkInvariants()
  #expect(log.end == end)
  let unit = Array("64\r\n".utf8) + [UInt8](repeating: 49, count: 100) + Array("\r\n".utf8)
  #expect(log.bytes == unit)
  #expect(log.segments.map(\.capacity) == [end - log.start])
  hadOthers = log.forget()
  #expect(!hadOthers)
  log.append([1])
  log.checkInvariants()
  #expect(log.segments[0].unit(at: log.start) == log.start..<end)
  // Whoever reads the old segments still can.
  #expect(view.last?.bytes(log.start..<end).count == end - log.start)
}

@Test(arguments: [1, 100, 10_000, 300_000])
func `a log holds the newest units, whole, and as many as its capacity has room for`(
  capacity: Int
) {
  var random = RandomSource(seed: RandomSource.seed)
  var log = ByteLog(capacity: capacity)
  var all: [UInt8] = []
  var sizes: [Int] = []
  for step in 0..<1000 {
    let unit = [UInt8](
      repeating: UInt8(truncatingIfNeeded: step),
      count: random.number(1...(random.once(in: 20) ? 20_000 : 300)))
    log.append(unit)
    ChunkFraming.append(unit, to: &all)
    sizes.append(unit.count + ChunkFraming.overhead(unit.count))
    log.checkInvariants()
    // The newest always, and whatever more there is room for.
    var (expected, rest) = (0, sizes[...])
    while let size = rest.popLast(), expected == 0 || expected + size <= capacity {
      expected += size
    }
    let held = log.bytes
    #expect(
      held.count == expected && held.areEnd(of: all),
      "\(held.count) bytes, not \(expected); step \(step), DIDCHANGE_SEED=\(RandomSource.seed)")
  }
}

extension [UInt8] {
  /// Compared by memory: byte by byte it would take a debug build minutes.
  fileprivate func areEnd(of all: [UInt8]) -> Bool {
    guard count <= all.count else { return false }
    return withUnsafeBytes { bytes in
      all.withUnsafeBytes { all in
        let end = UnsafeRawBufferPointer(rebasing: all.suffix(bytes.count))
        guard let first = bytes.baseAddress, let second = end.baseAddress else { return true }
        return memcmp(first, second, bytes.count) == 0
      }
    }
  }
}

@Test func `a unit is found by any position in it`() throws {
  var log = ByteLog(capacity: 1_000_000)
  var bounds: [Range<Int>] = []
  for size in [1, 10, 300, 5, 5000, 7, 8] {
    let start = log.end
    log.append([UInt8](repeating: 1, count: size))
    bounds.append(start..<log.end)
  }
  let view = LogView(segments: log.segments, start: log.start, end: log.end, isClosed: false)
  for unit in bounds {
    for position in unit {
      let segment = view.segments[view.segment(at: position)]
      #expect(segment.unit(at: position) == unit)
    }
  }
}

@Test func `payloads come without their frames`() {
  var log = ByteLog(capacity: 1_000_000)
  var all: [UInt8] = []
  for size in [1, 10, 300, 5, 5000, 7, 8] {
    let unit = [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
    log.append(unit)
    all += unit
  }
  var (position, result) = (0, [UInt8]())
  let view = LogView(segments: log.segments, start: log.start, end: log.end, isClosed: false)
  // What the log drops meanwhile the view still has.
  log.append([UInt8](repeating: 0, count: 1_000_000))
  while position < view.end {
    let (bytes, end) = view.payloads(from: position, limit: 20)
    result += bytes
    position = end
  }
  #expect(result == all)
}

@Test func `nothing is no unit`() {
  var log = ByteLog(capacity: 10)
  log.append([])
  #expect(log.end == 0)
}
