import GRDB
import OrderedResults

/// How a database holds text: https://www.sqlite.org/pragma.html#pragma_encoding
enum TextEncoding: String {
  case utf8 = "UTF-8"
  case utf16LittleEndian = "UTF-16le"
  case utf16BigEndian = "UTF-16be"

  /// The bytes of a text of UTF-16 that another one has when it is read as UTF-8; else NULL.
  ///
  /// So it is with unpaired surrogates, and with U+FFFE and U+FFFF. `trim` makes its text of UTF-8.
  static func lostBytes(of expression: String) -> String {
    let value = expression.parenthesized
    return """
      CASE typeof(\(value)) WHEN 'text' THEN \
      nullif(CAST(\(value) AS BLOB), CAST(trim(\(value), '') AS BLOB)) END
      """
  }
}

extension SchemaFacts {
  func textEncoding() throws -> TextEncoding {
    try String.fetchOne(db, sql: "PRAGMA encoding").flatMap(TextEncoding.init) ?? .utf8
  }
}

extension IncrementalAnalysis {
  /// A term of the order, with what it takes to compare text of UTF-16.
  mutating func term(_ term: RecordOrder.Term) throws -> RecordOrder.Term {
    guard encoding != .utf8, term.collation == .binary, !isRowID(term.column) else { return term }
    guard let expression = expression(ofColumn: term.column) else {
      throw NotIncremental(reason: "what * stands for is not certain")
    }
    let lostBytes = TextEncoding.lostBytes(of: expression)
    let hidden = list.hidden.firstIndex(of: lostBytes)
    var term = term
    term.utf16 = UTF16Order(
      isBigEndian: encoding == .utf16BigEndian,
      lostBytes: hidden.map { $0 + list.visible.count } ?? list.append(hidden: lostBytes))
    return term
  }
}
