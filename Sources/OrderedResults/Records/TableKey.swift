import Hashing

/// The primary key of a table WITHOUT ROWID: its columns, and the collations under which its values are
/// the same.
///
/// Such a row has a *number* in the place of a rowid: a hash of the key's values, under a random key of
/// the process. What the primary key takes for equal (1 and 1.0, 'a' and 'A' under NOCASE) has one
/// number. Two keys have one number once in 2^64 times, as two cells have one digest.
/// https://www.sqlite.org/withoutrowid.html
package struct TableKey: Sendable, Hashable {
  /// In the order of the b-tree.
  package let columns: [String]
  package let collations: [Collation]

  private static let hash = KeyedHash()

  package init(columns: [String], collations: [Collation]) {
    self.columns = columns
    self.collations = collations
  }

  /// The number of a row. O(b), b the bytes of its key.
  package func number(of values: some Sequence<Value>) -> Int64 {
    var number = NumberOfKey()
    for (value, collation) in zip(values, collations) {
      value.withView { number.add($0, collation) }
    }
    return number.value
  }

  /// The number of a row, from one value after the other.
  package struct NumberOfKey {
    private var state: UInt64 = TableKey.hash.seed

    package init() {}

    /// A number of values that look alike: 1 and 1.0 are two.
    package init(exactly values: some Sequence<Value>) {
      for value in values { value.withView { addExactly($0) } }
    }

    package var value: Int64 { Int64(bitPattern: state) }

    /// Adds a value that is another one than all that do not look like it.
    package mutating func addExactly(_ value: ColumnView) {
      if case .real(let real) = value {
        add(2, real.bitPattern)
      } else {
        add(value, .binary)
      }
    }

    package mutating func add(_ value: ColumnView, _ collation: Collation) {
      switch value {
      case .null: add(0, 0)
      case .integer(let integer): add(1, UInt64(bitPattern: integer))
      case .real(let real):
        // A column of type REAL has its integers as such in the file.
        if let integer = Int64(exactly: real) { return add(.integer(integer), collation) }
        add(2, real.bitPattern)
      case .text(let bytes): add(text: bytes, collation)
      case .blob(let bytes): add(4, bytes)
      }
    }

    private mutating func add(text: UnsafeRawBufferPointer, _ collation: Collation) {
      switch collation {
      case .binary: add(3, text)
      case .rtrim: add(3, UnsafeRawBufferPointer(rebasing: text.trimmingSuffix(0x20)))
      case .noCase:
        // What stands behind a NUL counts by its length alone (sqlite3StrNICmp).
        let folded = text.prefix { $0 != 0 }.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        add(5, UInt64(text.count))
        folded.withUnsafeBytes { add(3, $0) }
      }
    }

    private mutating func add(_ kind: UInt64, _ word: UInt64) {
      withUnsafeBytes(of: (kind, word)) { add(kind, $0) }
    }

    private mutating func add(_ kind: UInt64, _ bytes: UnsafeRawBufferPointer) {
      // The empty bytes may have an address, or none.
      guard !bytes.isEmpty, let start = bytes.baseAddress else { return add(kind, 0) }
      state = TableKey.hash.hash(start, count: bytes.count, from: state ^ kind << 56)
    }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func trimmingSuffix(_ byte: UInt8) -> Slice<UnsafeRawBufferPointer> {
    prefix((lastIndex { $0 != byte } ?? -1) + 1)
  }
}
