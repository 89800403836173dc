/// How a cell's payload is divided between the cell and a chain of overflow pages
/// (https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages).
struct PayloadLayout {
  private let usable: Int
  private let largest: Int
  private let smallest: Int

  init(usableSize: Int, isTable: Bool) {
    usable = usableSize
    largest = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
    smallest = (usable - 12) * 32 / 255 - 23
  }

  /// How much of a payload lies in the cell itself.
  @inline(__always)
  func local(_ size: UInt64) throws(CaptureDoubt) -> Int {
    if size <= UInt64(largest) { return Int(size) }
    // SQLite's own limit of a row (https://www.sqlite.org/limits.html#max_length).
    guard size <= 0x7fff_ffff else { throw .malformedPage }
    let kept = smallest + (Int(size) - smallest) % (usable - 4)
    return kept <= largest ? kept : smallest
  }
}

/// Where the rest of a payload begins that does not fit in its cell.
struct OverflowHead: Equatable {
  var firstPage: UInt32
  /// The bytes that lie on overflow pages.
  var size: Int
}

extension BTreePage {
  /// The beginnings of all overflow chains of this page's cells.
  func overflowHeads(usableSize: Int) throws(CaptureDoubt) -> [OverflowHead] {
    guard kind != .interiorTable else { return [] }
    let layout = PayloadLayout(usableSize: usableSize, isTable: kind.isTable)
    var heads: [OverflowHead] = []
    for index in 0..<cellCount {
      var offset = try offset(ofCell: index)
      if kind == .interiorIndex { offset += 4 }
      let size = try image.varint(&offset)
      if kind == .leafTable { _ = try image.varint(&offset) }
      let local = try layout.local(size)
      guard local < Int(size) else { continue }
      heads.append(
        OverflowHead(firstPage: try image.integer32(offset + local), size: Int(size) - local))
    }
    return heads
  }
}
