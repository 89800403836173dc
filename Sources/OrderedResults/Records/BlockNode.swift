import Algorithms

/// Up to 64 blocks of records, immutable once made.
///
/// The middle level of a ``RecordList``: a list that differs from another in one place shares all
/// nodes but one, and all blocks of that node but one.
final class BlockNode: Sendable {
  static let maximumCount = 64
  /// A builder rather copies so few blocks than have one more node.
  static let minimumCount = 16

  let content: NodeBlocks
  /// Of what the records show, once somebody asked.
  let digest = KeptDigest()
  /// The powers of that.
  let digestPowers = KeptDigest()

  init(_ content: NodeBlocks) { self.content = content }

  var blocks: [RecordBlock] { content.blocks }
  /// For each block, how many records of the node stand before it.
  var starts: [Int] { content.starts }
  /// Records in all blocks.
  var count: Int { content.count }
  /// Whether it is too small to be left alone among others, or its last block is.
  var isSmall: Bool { blocks.count < Self.minimumCount || blocks.last?.isSmall == true }
  /// Whether one more record fits in.
  var hasRoom: Bool { blocks.count < Self.maximumCount || blocks.last?.hasRoom == true }
}

/// The blocks of a node, and what must be known of them to share them without a look into any.
struct NodeBlocks: Sendable {
  private(set) var blocks: [RecordBlock] = []
  private(set) var starts: [Int] = []
  private(set) var count = 0
  /// For each block a bit: whether it is small.
  private var small: UInt64 = 0

  init() {}

  init(_ blocks: some Collection<RecordBlock>) {
    self.blocks.reserveCapacity(blocks.count)
    starts.reserveCapacity(blocks.count)
    for block in blocks { append(block) }
  }

  mutating func append(_ block: RecordBlock) {
    if block.isSmall { small |= 1 << blocks.count }
    blocks.append(block)
    starts.append(count)
    count += block.count
  }

  /// Takes the last block away, of which there must be one.
  mutating func removeLast() {
    count -= blocks.removeLast().count
    starts.removeLast()
    small &= ~(1 << blocks.count)
  }

  /// Appends blocks of another node, none of which is small.
  mutating func append(_ slots: Range<Int>, of other: NodeBlocks) {
    if other.blocks.count > BlockNode.maximumCount / 2 {
      blocks.reserveCapacity(BlockNode.maximumCount)
      starts.reserveCapacity(BlockNode.maximumCount)
    }
    let shift = count - other.starts[slots.lowerBound]
    blocks.append(contentsOf: other.blocks[slots])
    for slot in slots { starts.append(other.starts[slot] + shift) }
    count = shift + other.end(of: slots.upperBound - 1)
  }

  /// The slots from one on whose blocks are whole among `count` records, up to the first small one.
  func large(from slot: Int, holding count: Int) -> Range<Int> {
    let end = starts[slot] + count
    let whole = end >= self.count ? blocks.count : starts.lastStart(notAfter: end)
    return slot..<Swift.max(slot, min(whole, slot + (small >> slot).trailingZeroBitCount))
  }

  /// How many records there are up to the end of a block.
  func end(of slot: Int) -> Int { slot + 1 < starts.count ? starts[slot + 1] : count }
}

extension [Int] {
  /// The last of these ascending starts that is not behind `offset`. O(log n).
  func lastStart(notAfter offset: Int) -> Int {
    Swift.max(0, partitioningIndex { $0 > offset } - 1)
  }
}
