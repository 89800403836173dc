/// A maximal run of records with the same section name.
package struct Section: Sendable, Equatable {
  /// Canonical: an integral real is the integer, so that 1 and 1.0 are one name.
  package var name: Value
  package var indexTitle: String
  package var numberOfRecords: Int
  /// How many records stand before this section.
  package var offset: Int

  package init(name: Value, indexTitle: String, numberOfRecords: Int, offset: Int) {
    self.name = name
    self.indexTitle = indexTitle
    self.numberOfRecords = numberOfRecords
    self.offset = offset
  }
}

extension RecordLayout {
  /// The index title of a section that begins with `record`.
  func indexTitle(of record: BorrowedBytes, name: Value) -> String {
    if let sectionIndexTitle { return record.column(sectionIndexTitle).value.displayText }
    return name.displayText.first?.uppercased() ?? ""
  }
}

extension Value {
  /// Equal for numbers that SQLite has as equal: an integral real becomes the integer.
  var canonical: Value {
    if case .real(let real) = self, let integer = Int64(exactly: real) { return .integer(integer) }
    return self
  }

  /// As a person reads it: NULL is empty, bytes that are not UTF-8 are repaired.
  var displayText: String {
    switch self {
    case .null: ""
    case .integer(let integer): String(integer)
    case .real(let real): String(real)
    case .text(let bytes), .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }
}
