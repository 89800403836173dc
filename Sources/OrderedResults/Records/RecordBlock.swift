import HeldMemory
import Locks

/// Up to 128 records packed into one allocation, immutable once made; ``Record``s are slices of it.
///
/// The memory begins with the bounds of the records, counted in bytes from its start: record i lies
/// between bound i and bound i + 1. A block is large enough to make allocations rare (one for many
/// rows) and small enough that a record held by somebody keeps little else alive.
@usableFromInline
// Unchecked: the bytes are written before init returns and never again.
final class RecordBlock: @unchecked Sendable {
  /// More records than this never share a block.
  static let maximumCount = 128
  /// A block takes no further record that would make its records longer than this together.
  static let maximumByteCount = 8192

  let count: Int
  /// The block's name, which it shares with the block that took its place in a later list.
  let id: UInt64
  @usableFromInline let memory: UnsafeRawPointer
  /// Of what the records show, once somebody asked.
  let digest = KeptDigest()

  /// Copies records that lie one after the other, `ends` telling where each ends.
  ///
  /// O(b), b bytes; one allocation beside the object's.
  ///
  /// - Parameter id: of the block whose place this one takes; nil: of none.
  // The caller keeps both alive for the call.
  init(copying bytes: UnsafeRawPointer, ends: UnsafeBufferPointer<UInt32>, id: UInt64? = nil) {
    count = ends.count
    self.id = id ?? Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    let header = MemoryLayout<UInt32>.stride * (count + 1)
    let byteCount = Int(ends.last ?? 0)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: header + byteCount, alignment: 8)
    let bounds = memory.bindMemory(to: UInt32.self, capacity: count + 1)
    bounds.initialize(to: UInt32(header))
    for index in 0..<count { (bounds + index + 1).initialize(to: UInt32(header) + ends[index]) }
    (memory + header).copyMemory(from: bytes, byteCount: byteCount)
    self.memory = UnsafeRawPointer(memory)
    HeldMemory.add(heldBytes)
  }

  deinit {
    HeldMemory.add(-heldBytes)
    memory.deallocate()
  }

  /// The object, what the allocator keeps for it and for its memory, and its place in a node.
  private static let overhead = 128

  private var heldBytes: Int { Int(bounds[count]) + Self.overhead }

  private static let lastID = Atomic<UInt64>(0)

  /// `count` + 1 offsets into the memory.
  // Bound by init; valid as long as the block.
  var bounds: UnsafePointer<UInt32> { memory.assumingMemoryBound(to: UInt32.self) }

  /// Bytes of all records.
  var byteCount: Int { Int(bounds[count]) - Int(bounds[0]) }

  /// Whether a builder should rather copy these few records than have one more block.
  var isSmall: Bool { Self.isSmall(count: count, byteCount: byteCount) }
  /// Whether one more record fits in that is like these.
  var hasRoom: Bool {
    count < Self.maximumCount && byteCount + byteCount / count <= Self.maximumByteCount
  }

  static func isSmall(count: Int, byteCount: Int) -> Bool {
    count < maximumCount / 4 && byteCount < maximumByteCount / 4
  }

  /// A record of the block.
  ///
  /// O(1).
  func record(_ item: Int) -> Record {
    precondition(0..<count ~= item, "record \(item) of a block of \(count)")
    let start = Int(bounds[item])
    return Record(block: self, offset: start, length: Int(bounds[item + 1]) - start)
  }

  /// The bytes of one of the block's records.
  // Good as long as the block.
  func bytes(_ item: Int) -> BorrowedBytes { Self.bytes(item, in: memory) }

  /// The bytes of a record in the memory of a block.
  // Good as long as the block, which has such a record.
  @inline(__always)
  static func bytes(_ item: Int, in memory: UnsafeRawPointer) -> BorrowedBytes {
    let bounds = memory.assumingMemoryBound(to: UInt32.self)
    let start = Int(bounds[item])
    return BorrowedBytes(start: memory + start, count: Int(bounds[item &+ 1]) &- start)
  }

  /// Hands over the integers of a column, which has no other values, in the order of the records.
  ///
  /// O(b c), b records of the block, c the column's position.
  func forEachInteger(inColumn column: Int, _ body: (Int64) -> Void) {
    for item in 0..<count {
      var columns = bytes(item).columns
      columns.skip(column)
      guard case .integer(let integer) = columns.next() else {
        preconditionFailure("no integer in column \(column)")
      }
      body(integer)
    }
  }

  /// The records with an integer in a column.
  ///
  /// O(b c), b records of the block, c the column's position; only those found are held.
  func records(with integer: Int64, inColumn column: Int) -> [Record] {
    var records: [Record] = []
    for item in 0..<count {
      var columns = bytes(item).columns
      columns.skip(column)
      if columns.nextIs(integer) { records.append(record(item)) }
    }
    return records
  }
}
