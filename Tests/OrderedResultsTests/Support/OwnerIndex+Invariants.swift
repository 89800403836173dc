@testable import OrderedResults

extension OwnerIndex {
  /// Checks that the index says of `results` what one made anew would. O(n).
  func checkInvariants(
    of results: Results, owner: (Record) -> Int64
  ) throws(BrokenInvariant) {
    var held: Set<UInt64> = []
    for block in results.records.blocks {
      let id = block.id
      try BrokenInvariant.require(held.insert(id).inserted, "two blocks are named \(id)")
      let number = numbers[id] ?? .max
      try BrokenInvariant.require(number < blocks.count, "block \(id) is not known")
      try BrokenInvariant.require(blocks[Int(number)] === block, "block \(id) is another one")
      try BrokenInvariant.require(
        counts[Int(number)] == block.count, "block \(id): \(counts[Int(number)]) records")
      for item in 0..<block.count {
        let owner = owner(block.record(item))
        try BrokenInvariant.require(
          first[owner] == number || others[owner]?.contains(number) == true,
          "owner \(owner) is not in block \(id)")
      }
    }
    let entries = first.count + others.values.reduce(0) { $0 + $1.count }
    try BrokenInvariant.require(
      entries == results.count, "\(entries) entries for \(results.count) records")
    try BrokenInvariant.require(
      numbers.count == held.count && blocks.count - free.count == held.count,
      "\(numbers.count) blocks are known instead of \(held.count)")
  }
}
