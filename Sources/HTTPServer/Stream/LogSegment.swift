import Algorithms
import HTTP1
import HeldMemory

/// A piece of a log's memory, written once from front to back.
///
/// No unit straddles two segments, so a segment can be sent as it is.
// Unchecked, because it is raw memory shared between threads: bytes below an end that a reader got
// under the broadcast's lock are never written again; the others, and the fields marked so, are
// only touched under that lock.
final class LogSegment: @unchecked Sendable {
  /// The position of its first byte in the log.
  let base: Int
  let capacity: Int
  // Freed in deinit; whoever reads holds the segment.
  private let memory: UnsafeMutableRawPointer
  /// Bytes written.
  ///
  /// Guarded by the broadcast's lock.
  private(set) var filled = 0
  /// Where units end, as offsets into the segment.
  ///
  /// Guarded by the broadcast's lock.
  private(set) var unitEnds: [Int] = []

  init(base: Int, capacity: Int) {
    self.base = base
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 1)
    HeldMemory.add(capacity)
  }

  deinit {
    HeldMemory.add(-capacity)
    memory.deallocate()
  }

  /// Appends a unit as it is. Under the broadcast's lock.
  func append(_ unit: UnsafeRawBufferPointer) {
    write(unit)
    unitEnds.append(filled)
  }

  /// Appends a unit as a chunk of these bytes. Under the broadcast's lock.
  func append(chunkOf payload: [UInt8]) {
    var line: [UInt8] = []
    ChunkFraming.appendSize(payload.count, to: &line)
    line.withUnsafeBytes(write)
    payload.withUnsafeBytes(write)
    ChunkFraming.lineEnd.withUnsafeBytes(write)
    unitEnds.append(filled)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) {
    precondition(filled + bytes.count <= capacity, "a segment is full")
    UnsafeMutableRawBufferPointer(start: memory + filled, count: bytes.count)
      .copyMemory(from: bytes)
    filled += bytes.count
  }

  /// The unit around a position.
  ///
  /// Under the broadcast's lock. O(log n) for n units of the segment.
  func unit(at position: Int) -> Range<Int> {
    let unit = unitEnds.dropLast().partitioningIndex { $0 > position - base }
    return base + (unit > 0 ? unitEnds[unit - 1] : 0)..<base + unitEnds[unit]
  }

  /// The bytes between two positions of this segment, which were once published.
  ///
  /// They live as long as the segment does.
  func bytes(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: memory + (range.lowerBound - base), count: range.count)
  }
}
