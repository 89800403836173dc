/// What a log held at one moment, to be read without its lock.
struct LogView {
  let segments: [LogSegment]
  let start: Int
  let end: Int
  let isClosed: Bool

  /// More pieces than this wait for the next write; IOV_MAX is 1024.
  private static let mostPieces = 64

  /// The segment that holds a position, and its index.
  ///
  /// O(segments behind it), mostly 1.
  func segment(at position: Int) -> Int {
    var index = segments.count - 1
    while index > 0, segments[index].base > position { index -= 1 }
    return index
  }

  private func end(ofSegment index: Int) -> Int {
    index + 1 < segments.count ? segments[index + 1].base : end
  }

  /// Sends everything from a position on with one system call, however many units that is.
  func send(from position: Int, to descriptor: Int32) -> Transfer {
    let first = segment(at: position)
    if first == segments.count - 1 {
      return SystemCalls.send(
        descriptor, UnsafeRawBufferPointer(segments[first].bytes(position..<end)))
    }
    let count = min(segments.count - first, Self.mostPieces)
    var position = position
    return SystemCalls.send(descriptor, pieces: count) { index in
      let end = end(ofSegment: first + index)
      defer { position = end }
      return segments[first + index].bytes(position..<end)
    }
  }

  /// The payloads from a position on without their frames, at least one unit and about `limit`
  /// bytes, and the position after them.
  ///
  /// Under the broadcast's lock, which guards where units end.
  func payloads(from position: Int, limit: Int) -> (bytes: [UInt8], end: Int) {
    var result: [UInt8] = []
    var position = position
    while position < end, result.count < limit {
      let segment = segments[segment(at: position)]
      let unit = segment.unit(at: position)
      // The frame: digits and CRLF before, CRLF behind.
      let chunk = segment.bytes(unit)
      let line = (chunk.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
      result.append(contentsOf: chunk[line..<chunk.count - 2])
      position = unit.upperBound
    }
    return (result, position)
  }
}
