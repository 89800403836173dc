/// Finding entries by their offsets.
extension EntryCounts {
  /// The rowids of the entries at these offsets. O(h · k + e), h the b-tree's height, k the children
  /// of an interior page, e the entries that lie on the pages of the range.
  ///
  /// - throws: a doubt where the pages are not as they were counted.
  func rowIDs(
    at range: Range<Int>, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> [Int64] {
    var rows: [Int64] = []
    let range = range.clamped(to: 0..<total)
    if !range.isEmpty { try collect(below: 0, at: range, into: &rows, from: snapshot) }
    guard rows.count == range.count else { throw .malformedPage }
    return rows
  }

  /// Offsets count from the first entry below the page.
  private func collect(
    below page: UInt32, at range: Range<Int>, into rows: inout [Int64],
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    guard let node = nodes[page] else { throw .malformedPage }
    var start = 0
    for (index, child) in node.children.enumerated() {
      if start >= range.upperBound { return }
      let count = Int(node.counts[index])
      if start + count > range.lowerBound {
        let part = (range.lowerBound - start)..<(range.upperBound - start)
        let within = part.clamped(to: 0..<count)
        if nodes[child] == nil {
          try read(child, at: within, of: count, into: &rows, from: snapshot)
        } else {
          try collect(below: child, at: within, into: &rows, from: snapshot)
        }
      }
      start += count
      guard !isTable, index < node.children.count - 1 else { continue }
      if range.contains(start) {
        rows.append(try rowID(at: index, onInterior: page, from: snapshot))
      }
      start += 1
    }
  }

  private func read(
    _ leaf: UInt32, at range: Range<Int>, of count: Int, into rows: inout [Int64],
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    guard !range.isEmpty else { return }
    var overflowing: [(index: Int, record: OverflowingRecord)] = []
    let page = try BTreePage(try snapshot.page(leaf))
    guard page.kind == (isTable ? .leafTable : .leafIndex), page.cellCount == count else {
      throw .malformedPage
    }
    for cell in range {
      if isTable {
        rows.append(try page.rowID(ofCell: cell))
        continue
      }
      switch try page.entry(cell) {
      case .whole(let rowid): rows.append(rowid)
      case .overflowing(let record):
        overflowing.append((rows.count, record))
        rows.append(0)
      }
    }
    // The next read overwrites the image of the leaf.
    for (index, record) in overflowing { rows[index] = try record.rowID(from: snapshot) }
  }

  private func rowID(
    at cell: Int, onInterior number: UInt32, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> Int64 {
    let page = try BTreePage(try snapshot.page(number))
    guard page.kind == .interiorIndex, page.cellCount + 1 == nodes[number]?.children.count else {
      throw .malformedPage
    }
    switch try page.entry(cell) {
    case .whole(let rowid): return rowid
    case .overflowing(let record): return try record.rowID(from: snapshot)
    }
  }
}
