/// A block that was made for a list from others: which of its records are where they were.
package struct MadeBlock: Sendable {
  /// Records that were copied together.
  struct Run: Sendable {
    /// The name of the block that they were in.
    let source: UInt64
    /// Their places in the new block.
    var items: Range<Int>
  }

  let block: RecordBlock
  /// In order, without overlaps.
  let copied: [Run]

  /// Calls `body` for each record that was not in a block of this name before, with the name of the
  /// block that it was in; nil: it is new.
  func forEachNewcomer(_ body: (Record, _ source: UInt64?) -> Void) {
    var item = 0
    for run in copied {
      while item < run.items.lowerBound {
        body(block.record(item), nil)
        item += 1
      }
      if run.source != block.id {
        for item in run.items { body(block.record(item), run.source) }
      }
      item = run.items.upperBound
    }
    while item < block.count {
      body(block.record(item), nil)
      item += 1
    }
  }
}
