extension Results {
  /// What turns `old` into this result; both must be results of one query.
  ///
  /// O(n / 128 + s) where the two share blocks, O(n) comparisons elsewhere, n records in s
  /// sections; and the cost of ``ResultsBuilder/finish()``.
  package func changes(from old: Results) -> ChangeSet {
    precondition(old.layout == layout, "results of two queries")
    var builder = ResultsBuilder(comparing: self, with: old)
    for block in records.blocks { builder.append(block) }
    return builder.changes(to: self)
  }
}

extension ResultsBuilder {
  /// Takes all records of a block; those that stand in the same block in the old results are not
  /// even compared.
  fileprivate mutating func append(_ block: RecordBlock) {
    var item = 0
    while item < block.count {
      if misses > 0 {
        item += missAgain(block, from: item)
        if item == block.count { return }
      }
      append(block.bytes(item), columns: old.layout.columnCount)
      item += 1
      if cursor.memory == block.memory, cursor.item == item, runLimit > item {
        // The run would go on to its limit.
        cursor.item = runLimit
        item = runLimit
      }
    }
  }
}
