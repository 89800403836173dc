/// An entry of an index: a record of the indexed values, and of the rowid as the last one
/// (https://www.sqlite.org/fileformat2.html#representation_of_sql_indices).
enum IndexEntry {
  case whole(rowid: Int64)
  case overflowing(OverflowingRecord)
}

/// A record of which a part is on overflow pages.
struct OverflowingRecord {
  /// What is in the cell.
  var beginning: [UInt8]
  var overflow: OverflowHead

  /// Reads the overflow pages for the value at their end. O(p), p these pages.
  func rowID(from snapshot: some DatabasePages) throws(CaptureDoubt) -> Int64 {
    // A chain that is longer than the file runs in a circle.
    guard overflow.size / (snapshot.layout.usableSize - 4) <= snapshot.pageCount else {
      throw .malformedPage
    }
    let size = beginning.count + overflow.size
    let local = beginning
    var offset = 0
    let headerSize = try Varint.read(&offset) { index throws(CaptureDoubt) in
      guard index < local.count else { throw .malformedPage }
      return local[index]
    }
    var (first, last) = (beginning, beginning.suffix(IndexRecord.longestInteger))
    var (rest, number) = (overflow.size, overflow.firstPage)
    while rest > 0 {
      let image = try snapshot.page(number)
      let length = min(rest, image.count - 4)
      for index in 0..<length where first.count < headerSize {
        first.append(try image.byte(4 + index))
      }
      for index in max(0, length - IndexRecord.longestInteger)..<length {
        last.append(try image.byte(4 + index))
      }
      last = last.suffix(IndexRecord.longestInteger)
      rest -= length
      number = try image.integer32(0)
    }
    let (header, tail) = (first, Array(last))
    return try IndexRecord.rowID(size: size) { index throws(CaptureDoubt) in
      if index < header.count { return header[index] }
      guard index >= size - tail.count, index < size else { throw .malformedPage }
      return tail[index - (size - tail.count)]
    }
  }
}

/// The record format, as far as it takes to find the last value
/// (https://www.sqlite.org/fileformat2.html#record_format).
enum IndexRecord {
  static let longestInteger = 8

  /// The integer at the end of a record of `size` bytes, each given by `byte`. O(v), v its values.
  @inline(__always)
  static func rowID(
    size: Int, byte: (Int) throws(CaptureDoubt) -> UInt8
  ) throws(CaptureDoubt) -> Int64 {
    var offset = 0
    guard let headerSize = Int(exactly: try Varint.read(&offset, byte: byte)), headerSize <= size
    else {
      throw .malformedPage
    }
    var type: UInt64 = 0
    while offset < headerSize { type = try Varint.read(&offset, byte: byte) }
    guard offset == headerSize else { throw .malformedPage }
    let width: Int
    switch type {
    case 1...4: width = Int(type)
    case 5: width = 6
    case 6: width = 8
    case 8, 9: return Int64(type - 8)
    default: throw .malformedPage
    }
    guard headerSize + width <= size else { throw .malformedPage }
    var value = Int64(Int8(bitPattern: try byte(size - width)))
    for index in (size - width + 1)..<size { value = value << 8 | Int64(try byte(index)) }
    return value
  }
}

extension BTreePage {
  /// The key of a cell of a table's leaf.
  func rowID(ofCell index: Int) throws(CaptureDoubt) -> Int64 {
    var offset = try offset(ofCell: index)
    _ = try image.varint(&offset)
    return Int64(bitPattern: try image.varint(&offset))
  }

  /// The entry in a cell of an index.
  func entry(_ index: Int) throws(CaptureDoubt) -> IndexEntry {
    var offset = try offset(ofCell: index)
    if kind == .interiorIndex { offset += 4 }
    let size = try image.varint(&offset)
    let local = try PayloadLayout(usableSize: image.count, isTable: false).local(size)
    let (image, start) = (image, offset)
    if local == Int(size) {
      return .whole(
        rowid: try IndexRecord.rowID(size: local) { index throws(CaptureDoubt) in
          try image.byte(start + index)
        })
    }
    var beginning: [UInt8] = []
    beginning.reserveCapacity(local)
    for index in 0..<local { beginning.append(try image.byte(start + index)) }
    let head = OverflowHead(
      firstPage: try image.integer32(start + local), size: Int(size) - local)
    return .overflowing(OverflowingRecord(beginning: beginning, overflow: head))
  }
}
