import Algorithms
import OrderedResults

/// Tables WITHOUT ROWID: b-trees of an index, whose interior pages have rows as well
/// (https://www.sqlite.org/fileformat2.html#representation_of_without_rowid_tables).
extension LeafReader {
  /// Reads any page of such a table: O(b + m log m), b the bytes of the page, m its rows.
  ///
  /// A cell's digest leaves out the child of a cell on an interior page, so that a row that goes up or
  /// down in the tree is as it was.
  mutating func read(_ image: PageImage, by key: TableKey) throws(CaptureDoubt) {
    let page = try begin(image)
    guard !page.kind.isTable else { throw .malformedPage }
    let layout = PayloadLayout(usableSize: image.count, isTable: false)
    var room = image.count
    for index in 0..<page.cellCount {
      var offset = try page.offset(ofCell: index)
      if page.kind == .interiorIndex { offset += 4 }
      let start = offset
      let size = try image.varint(&offset)
      let local = try layout.local(size)
      let end = offset + local
      room -= end - start
      guard room >= 0 else { throw .malformedPage }
      guard let record = try RecordKey(image, offset..<end, count: key.columns.count) else {
        return reportLongKey()
      }
      let number = try record.number(by: key)
      let digest = try image.digest(start..<end, with: digest)
      add(CellDigest(rowid: number, digest: digest), record: offset..<end)
      guard local < Int(size) else { continue }
      let head = OverflowHead(firstPage: try image.integer32(end), size: Int(size) - local)
      try add(OverflowRow(rowid: number, head: head, key: record.values()))
    }
    sortByNumber()
  }

  /// The keys of rows of the page read last. O(k log m), k such rows.
  func keys(
    of cells: some Sequence<CellDigest>, in image: PageImage, by key: TableKey
  ) throws(CaptureDoubt) -> [Int64: [Value]] {
    var keys: [Int64: [Value]] = [:]
    for cell in cells {
      let place = records.partitioningIndex { $0.number >= cell.rowid }
      guard place < records.count, records[place].number == cell.rowid,
        let record = try RecordKey(image, records[place].range, count: key.columns.count)
      else { throw .malformedPage }
      keys[cell.rowid] = try record.values()
    }
    return keys
  }
}
