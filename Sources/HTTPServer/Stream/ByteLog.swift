import HTTP1

/// An append-only log of units of bytes with absolute positions, bounded in bytes.
///
/// Each unit is kept as an HTTP/1.1 chunk, so that it is framed once and not once a subscriber.
/// Positions count the framed bytes. The newest unit is always held, whatever its size; the oldest
/// go when there are more bytes than the capacity. Memory: at most twice the capacity, and
/// two segments.
struct ByteLog {
  /// Units above this have a segment of their own: a reader that stopped inside one keeps the
  /// segment, while of a smaller one it keeps a copy of the rest.
  static let largeUnit = 4096
  private static let smallestSegment = 1024
  private static let largestSegment = 64 * 1024

  let capacity: Int
  private(set) var segments: [LogSegment] = []
  /// The position of the oldest byte held: where a unit begins.
  private(set) var start = 0
  /// The position after the newest byte.
  private(set) var end = 0
  /// Which unit of the first segment is the oldest held.
  private var firstUnit = 0
  private var nextCapacity = smallestSegment

  init(capacity: Int) { self.capacity = capacity }

  /// Appends one unit; nothing is no unit.
  ///
  /// O(bytes), amortised over the units that it drops.
  mutating func append(_ payload: [UInt8]) {
    guard !payload.isEmpty else { return }
    let size = payload.count + ChunkFraming.overhead(payload.count)
    segment(for: size).append(chunkOf: payload)
    end += size
    dropOldest()
  }

  /// Drops everything; whoever has shown it all has missed something too.
  mutating func restart() {
    segments = []
    firstUnit = 0
    nextCapacity = Self.smallestSegment
    end += 1
    start = end
  }

  /// Drops all units but the newest, which may be on its way to those who have shown the others.
  ///
  /// O(bytes of that); whoever reads still holds the segments that it reads.
  ///
  /// - Returns: whether there were others.
  mutating func forget() -> Bool {
    guard let last = segments.last else { return false }
    let newest = last.unit(at: end - 1)
    guard start < newest.lowerBound else { return false }
    let segment = LogSegment(base: newest.lowerBound, capacity: newest.count)
    segment.append(UnsafeRawBufferPointer(last.bytes(newest)))
    segments = [segment]
    firstUnit = 0
    nextCapacity = Self.smallestSegment
    start = newest.lowerBound
    return true
  }

  private mutating func segment(for size: Int) -> LogSegment {
    let isLarge = size > Self.largeUnit
    if let last = segments.last, !isLarge, last.capacity - last.filled >= size { return last }
    let capacity = isLarge ? size : max(size, nextCapacity)
    // A log that carries little stays small; the room that is left before a large unit is lost.
    nextCapacity = isLarge ? Self.smallestSegment : min(nextCapacity * 2, Self.largestSegment)
    let segment = LogSegment(base: end, capacity: capacity)
    segments.append(segment)
    return segment
  }

  private mutating func dropOldest() {
    while end - start > capacity, let first = segments.first {
      let unitEnd = first.base + first.unitEnds[firstUnit]
      guard unitEnd < end else { return }
      start = unitEnd
      firstUnit += 1
      if firstUnit == first.unitEnds.count {
        segments.removeFirst()
        firstUnit = 0
      }
    }
  }
}
