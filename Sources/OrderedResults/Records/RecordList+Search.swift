extension RecordList {
  /// Where `compare` is 0, or goes from negative to positive, among the records of a range.
  ///
  /// Nodes and blocks are passed by their first records, so that no offset is looked for in the tree.
  ///
  /// O(log n), n records of the range.
  ///
  /// - Parameters:
  ///   - range: offsets of records that ascend for `compare`.
  ///   - compare: on which side of what is looked for a record is. Its bytes end with the call.
  /// - Returns: the offset, or that of the first record behind it.
  func position(
    in range: Range<Int>, where compare: (BorrowedBytes) -> Int
  ) -> (offset: Int, isThere: Bool) {
    if range.isEmpty { return (range.lowerBound, false) }
    let (first, last) = (place(of: range.lowerBound), place(of: range.upperBound - 1))
    var place = first
    let node = (first.node + 1..<last.node + 1).search { compare(nodes[$0].blocks[0].bytes(0)) }
    if node.isThere { return (starts[node.offset], true) }
    if node.offset - 1 > first.node { place = Place(node: node.offset - 1) }
    let blocks = nodes[place.node].blocks
    let end = place.node == last.node ? last.slot + 1 : blocks.count
    let slot = (place.slot + 1..<end).search { compare(blocks[$0].bytes(0)) }
    if slot.isThere { return (start(ofBlockAt: Place(node: place.node, slot: slot.offset)), true) }
    if slot.offset - 1 > place.slot { place = Place(node: place.node, slot: slot.offset - 1) }
    let block = blocks[place.slot]
    let isLast = place.node == last.node && place.slot == last.slot
    let item = (place.item..<(isLast ? last.item + 1 : block.count)).search {
      compare(block.bytes($0))
    }
    place.item = 0
    return (start(ofBlockAt: place) + item.offset, item.isThere)
  }
}

extension Range<Int> {
  /// Where `compare` is 0, or goes from negative to positive. O(log n).
  ///
  /// Unlike `partitioningIndex` it ends where it meets what is looked for: each comparison finds a
  /// record in its tree, and is the better part of a replacement's time.
  func search(_ compare: (Int) -> Int) -> (offset: Int, isThere: Bool) {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = (low + high) / 2
      let comparison = compare(middle)
      if comparison == 0 { return (middle, true) }
      if comparison < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}
