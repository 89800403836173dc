/// One page of a b-tree: its header and the places of its cells
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
struct BTreePage {
  enum Kind: UInt8 {
    case interiorIndex = 0x02
    case interiorTable = 0x05
    case leafIndex = 0x0a
    case leafTable = 0x0d

    var isLeaf: Bool { self == .leafIndex || self == .leafTable }
    var isTable: Bool { self == .interiorTable || self == .leafTable }
  }

  let image: PageImage
  let kind: Kind
  let cellCount: Int
  /// Where the array of cell pointers begins.
  private let pointers: Int
  private let header: Int

  init(_ image: PageImage) throws(CaptureDoubt) {
    self.image = image
    header = image.number == 1 ? FileHeader.size : 0
    guard let kind = Kind(rawValue: try image.byte(header)) else { throw .malformedPage }
    self.kind = kind
    cellCount = try image.integer16(header + 3)
    pointers = header + (kind.isLeaf ? 8 : 12)
    guard pointers + 2 * cellCount <= image.count else { throw .malformedPage }
  }

  @inline(__always)
  func offset(ofCell index: Int) throws(CaptureDoubt) -> Int {
    try image.integer16(pointers + 2 * index)
  }

  /// The children of an interior page, in order.
  func children() throws(CaptureDoubt) -> [UInt32] {
    guard !kind.isLeaf else { throw .malformedPage }
    var children: [UInt32] = []
    children.reserveCapacity(cellCount + 1)
    for index in 0..<cellCount {
      children.append(try image.integer32(try offset(ofCell: index)))
    }
    children.append(try image.integer32(header + 8))
    return children
  }

  func firstChild() throws(CaptureDoubt) -> UInt32 {
    try image.integer32(cellCount > 0 ? try offset(ofCell: 0) : header + 8)
  }
}
