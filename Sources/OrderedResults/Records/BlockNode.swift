import Algorithms

/// Up to 64 blocks of records, immutable once made.
///
/// The middle level of a ``RecordList``: a list that differs from another in one place shares all
/// nodes but one, and all blocks of that node but one.
final class BlockNode: Sendable {
  static let maximumCount = 64
  /// A builder rather copies so few blocks than have one more node.
  static let minimumCount = 16

  let blocks: [RecordBlock]
  /// For each block, how many records of the node stand before it.
  let starts: [Int]
  /// Records in all blocks.
  let count: Int
  /// Of what the records show, once somebody asked.
  let digest = KeptDigest()
  /// The powers of that.
  let digestPowers = KeptDigest()

  init(_ blocks: [RecordBlock]) {
    self.blocks = blocks
    var starts: [Int] = []
    starts.reserveCapacity(blocks.count)
    var count = 0
    for block in blocks {
      starts.append(count)
      count += block.count
    }
    self.starts = starts
    self.count = count
  }
}

extension [Int] {
  /// The last of these ascending starts that is not behind `offset`. O(log n).
  func lastStart(notAfter offset: Int) -> Int {
    Swift.max(0, partitioningIndex { $0 > offset } - 1)
  }
}
