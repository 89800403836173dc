/// How text is compared under BINARY in a database that holds it in UTF-16: by the bytes of that, as
/// they lie in the file, so that UTF-16le has an order of its own.
///
/// NOCASE and RTRIM are there for UTF-8 only, in which records have their text, and for them text is
/// converted first: https://www.sqlite.org/c3ref/create_collation.html
package struct UTF16Order: Sendable, Equatable {
  package var isBigEndian: Bool
  /// The column that has the bytes of a text that reading it has made another one; else it is NULL.
  ///
  /// SQLite reads an unpaired surrogate and what follows it as one character, and others not at all.
  package var lostBytes: Int

  package init(isBigEndian: Bool, lostBytes: Int) {
    self.isBigEndian = isBigEndian
    self.lostBytes = lostBytes
  }
}

extension RecordOrder.Term {
  func compare(_ left: BorrowedBytes, _ right: BorrowedBytes, _ order: UTF16Order) -> Int {
    guard case .text(let a) = left.view(column), case .text(let b) = right.view(column) else {
      return compare(left.view(column), right.view(column))
    }
    let result = UTF16Weights.order(
      UTF16Weights(a, lostBytes: left.view(order.lostBytes), order),
      UTF16Weights(b, lostBytes: right.view(order.lostBytes), order))
    return isDescending ? -result : result
  }
}

/// The code units of a text, as numbers that are ordered like their bytes.
private struct UTF16Weights: IteratorProtocol {
  private var bytes: UnsafeRawBufferPointer.Iterator
  private let isRead: Bool
  private let isBigEndian: Bool
  private var decoder = Unicode.UTF8()
  private var trailing: UInt16?

  init(_ text: UnsafeRawBufferPointer, lostBytes: ColumnView, _ order: UTF16Order) {
    isBigEndian = order.isBigEndian
    if case .blob(let lost) = lostBytes {
      (bytes, isRead) = (lost.makeIterator(), false)
    } else {
      (bytes, isRead) = (text.makeIterator(), true)
    }
  }

  mutating func next() -> UInt16? { isRead ? nextOfText() : nextOfBytes() }

  private mutating func nextOfBytes() -> UInt16? {
    guard let first = bytes.next() else { return nil }
    return UInt16(first) << 8 | UInt16(bytes.next() ?? 0)
  }

  private mutating func nextOfText() -> UInt16? {
    if let unit = trailing {
      trailing = nil
      return weight(unit)
    }
    switch decoder.decode(&bytes) {
    case .emptyInput: return nil
    case .error: return weight(0xFFFD)
    case .scalarValue(let scalar):
      let units = scalar.utf16
      if units.count > 1 { trailing = units[1] }
      return weight(units[0])
    }
  }

  private func weight(_ unit: UInt16) -> UInt16 { isBigEndian ? unit : unit.byteSwapped }

  static func order(_ left: UTF16Weights, _ right: UTF16Weights) -> Int {
    var (left, right) = (left, right)
    while true {
      switch (left.next(), right.next()) {
      case (nil, nil): return 0
      case (nil, _): return -1
      case (_, nil): return 1
      case (let a?, let b?): if a != b { return a < b ? -1 : 1 }
      }
    }
  }
}
