import Foundation

/// How SQLite compares text: https://www.sqlite.org/datatype3.html#collating_sequences
package enum Collation: String, Sendable {
  case binary = "BINARY"
  /// The 26 letters of ASCII are folded, and no others.
  case noCase = "NOCASE"
  /// Spaces at the end do not count.
  case rtrim = "RTRIM"
}

/// An ORDER BY over the columns of a record, exactly as SQLite compares.
///
/// Records are compared where they stand; no keys are kept beside them.
package struct RecordOrder: Sendable, Equatable {
  /// One term of the order.
  package struct Term: Sendable, Equatable {
    package var column: Int
    package var collation: Collation
    package var isDescending: Bool
    /// NULLs are the least values unless they are put last, or first where the term descends:
    /// https://www.sqlite.org/lang_select.html#orderby
    package var nullsLast: Bool
    /// Where the database holds text in UTF-16, and this term compares it under BINARY.
    package var utf16: UTF16Order?

    package init(
      column: Int, collation: Collation = .binary, isDescending: Bool = false,
      nullsLast: Bool? = nil
    ) {
      self.column = column
      self.collation = collation
      self.isDescending = isDescending
      self.nullsLast = nullsLast ?? isDescending
    }
  }

  package var terms: [Term]

  package init(_ terms: [Term]) { self.terms = terms }

  /// Less than zero, zero, or more: as `left` comes before, with, or behind `right`.
  ///
  /// O(t·c) for t terms that have to be looked at and c columns before them.
  package func compare(_ left: Record, _ right: Record) -> Int {
    left.borrow { left in right.borrow { right in compare(left, right) } }
  }

  func compare(_ left: BorrowedBytes, _ right: BorrowedBytes) -> Int {
    for term in terms {
      let order = term.compare(left, right)
      if order != 0 { return order }
    }
    return 0
  }

  /// Whether the first terms take two records for equal.
  func areEqual(_ left: Record, _ right: Record, terms count: Int) -> Bool {
    left.borrow { left in
      right.borrow { right in terms.prefix(count).allSatisfy { $0.compare(left, right) == 0 } }
    }
  }
}

extension BorrowedBytes {
  /// The column at a position, which is good as long as the bytes.
  func view(_ column: Int) -> ColumnView {
    var columns = columns
    columns.skip(column)
    return columns.next() ?? .null
  }
}

extension RecordOrder.Term {
  fileprivate func compare(_ left: BorrowedBytes, _ right: BorrowedBytes) -> Int {
    utf16.map { compare(left, right, $0) } ?? compare(left.view(column), right.view(column))
  }

  func compare(_ left: ColumnView, _ right: ColumnView) -> Int {
    switch (left, right) {
    case (.null, .null): return 0
    case (.null, _): return nullsLast ? 1 : -1
    case (_, .null): return nullsLast ? -1 : 1
    default:
      let order = left.compare(right, collation: collation)
      return isDescending ? -order : order
    }
  }
}

extension ColumnView {
  /// Numbers come before text, and text before blobs.
  private var rank: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  fileprivate func compare(_ other: ColumnView, collation: Collation) -> Int {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): Self.order(a, b)
    case (.real(let a), .real(let b)): Self.order(a, b)
    case (.integer(let a), .real(let b)): Self.order(a, real: b)
    case (.real(let a), .integer(let b)): -Self.order(b, real: a)
    case (.text(let a), .text(let b)): Self.order(text: a, b, collation)
    case (.blob(let a), .blob(let b)): Self.order(bytes: a, b)
    default: rank - other.rank
    }
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  /// Exactly, and not through Double, which has no room for all integers beyond 2^53.
  private static func order(_ integer: Int64, real: Double) -> Int {
    // ±2^63 are Doubles; what is beyond them is beyond every integer.
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let whole = Int64(real)
    return integer != whole ? order(integer, whole) : order(0, real - Double(whole))
  }

  private static func order(
    text a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, _ collation: Collation
  ) -> Int {
    switch collation {
    case .binary: order(bytes: a, b)
    case .rtrim: order(bytes: a.withoutTrailingSpaces, b.withoutTrailingSpaces)
    case .noCase: order(folded: a, b)
    }
  }

  private static func order(bytes a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    guard let start = a.baseAddress, let otherStart = b.baseAddress else {
      return a.count - b.count
    }
    let order = memcmp(start, otherStart, min(a.count, b.count))
    return order != 0 ? Int(order) : a.count - b.count
  }

  /// SQLite's comparison goes no further than a NUL that both have at the same place; then the
  /// lengths decide.
  private static func order(folded a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    for index in 0..<min(a.count, b.count) {
      let (x, y) = (a[index].foldedASCII, b[index].foldedASCII)
      if x != y { return Int(x) - Int(y) }
      if x == 0 { break }
    }
    return a.count - b.count
  }
}

extension UnsafeRawBufferPointer {
  fileprivate var withoutTrailingSpaces: UnsafeRawBufferPointer {
    var count = count
    while count > 0, self[count - 1] == UInt8(ascii: " ") { count -= 1 }
    return UnsafeRawBufferPointer(rebasing: self[..<count])
  }
}

extension UInt8 {
  @inlinable package var foldedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
