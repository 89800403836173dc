/// Records on their way into a block: one buffer that is used again for each block.
// The memory belongs to the value, which cannot be copied.
struct OpenBlock: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity = RecordBlock.maximumByteCount
  /// For each of `count` records where it ends.
  private let ends: UnsafeMutablePointer<UInt32>
  private(set) var count = 0
  private var byteCount = 0

  init() {
    memory = .allocate(byteCount: capacity, alignment: 8)
    ends = .allocate(capacity: RecordBlock.maximumCount)
  }

  deinit {
    memory.deallocate()
    ends.deallocate()
  }

  /// Whether there are records, but so few that a block of them would be wasteful.
  var isSmall: Bool { count > 0 && RecordBlock.isSmall(count: count, byteCount: byteCount) }

  /// Whether the records of a block fit in beside these.
  func hasRoom(for block: RecordBlock) -> Bool {
    count + block.count <= RecordBlock.maximumCount
      && byteCount + block.byteCount <= RecordBlock.maximumByteCount
  }

  /// Whether a record fits in; one that is larger than a block gets a block of its own.
  func hasRoom(forRecordOf bytes: Int) -> Bool {
    count == 0
      || count < RecordBlock.maximumCount && byteCount + bytes <= RecordBlock.maximumByteCount
  }

  /// Appends a record for which there is room.
  ///
  /// O(b), b bytes.
  mutating func append(_ record: BorrowedBytes) {
    if byteCount + record.count > capacity {
      // Only the first record can be larger than a block: there is nothing to keep.
      memory.deallocate()
      capacity = record.count
      memory = .allocate(byteCount: capacity, alignment: 8)
    }
    (memory + byteCount).copyMemory(from: record.start, byteCount: record.count)
    byteCount += record.count
    (ends + count).initialize(to: UInt32(byteCount))
    count += 1
  }

  /// Appends as many records of a block as there is room for.
  ///
  /// O(c + b), c records of b bytes.
  ///
  /// - Returns: how many.
  mutating func append(_ block: RecordBlock, _ items: Range<Int>) -> Int {
    let bounds = block.bounds
    let start = Int(bounds[items.lowerBound])
    let most = min(items.upperBound, items.lowerBound + RecordBlock.maximumCount - count)
    var end = items.lowerBound
    while end < most, byteCount + Int(bounds[end + 1]) - start <= RecordBlock.maximumByteCount {
      (ends + count).initialize(to: UInt32(byteCount + Int(bounds[end + 1]) - start))
      count += 1
      end += 1
    }
    let taken = end - items.lowerBound
    if taken == 0, count == 0 {
      append(block.bytes(end))
      return 1
    }
    let size = Int(bounds[end]) - start
    (memory + byteCount).copyMemory(from: block.memory + start, byteCount: size)
    byteCount += size
    return taken
  }

  // Good until something is appended or taken.
  func bytes(_ item: Int) -> BorrowedBytes {
    let start = item == 0 ? 0 : Int(ends[item - 1])
    return BorrowedBytes(start: UnsafeRawPointer(memory) + start, count: Int(ends[item]) - start)
  }

  /// A block of the records, of which there are some; they leave.
  ///
  /// O(b), b bytes.
  mutating func take(id: UInt64?) -> RecordBlock {
    defer { (count, byteCount) = (0, 0) }
    return RecordBlock(
      copying: memory, ends: UnsafeBufferPointer(start: ends, count: count), id: id)
  }
}
