/// What the values of a column mean, where that is more than their storage class says: SQLite has no
/// booleans, dates or JSON (https://www.sqlite.org/datatype3.html).
///
/// A type is a way to show values and no more: records are kept, ordered and compared as SQLite gave
/// them. A value that is none of its column's type is shown as it is.
package enum ColumnType: Sendable, Hashable {
  /// The integers 0 and 1.
  case boolean
  /// A day, or a moment of it; text, or else numbers too.
  case date(readsNumbers: Bool)
  /// A moment; text, or else numbers too.
  case datetime(readsNumbers: Bool)
  /// Text that is JSON.
  case json
  /// Bytes that are shown by a URL, at which they have this media type.
  case blob(mediaType: String)
}

extension ColumnType {
  /// The type that a declared one stands for, as a table has it: `TIMESTAMP`, `datetime(6)`.
  ///
  /// It never says what a number means: some write seconds of 1970 into a column of dates, some of
  /// 2001, some milliseconds.
  package init?(declared text: String) {
    let word = text.uppercased().prefix { $0.isLetter || $0 == "_" }
    switch word {
    case "BOOLEAN", "BOOL": self = .boolean
    case "DATE": self = .date(readsNumbers: false)
    case "DATETIME", "TIMESTAMP", "TIMESTAMPTZ": self = .datetime(readsNumbers: false)
    case "JSON": self = .json
    default: return nil
    }
  }

  /// The whole type as text, other for each.
  package var text: String {
    switch self {
    case .date(readsNumbers: true), .datetime(readsNumbers: true): word + " of numbers"
    case .blob(let mediaType): word + " " + mediaType
    default: word
    }
  }

  /// The word for it in a configuration.
  package var word: String {
    switch self {
    case .boolean: "boolean"
    case .date: "date"
    case .datetime: "datetime"
    case .json: "json"
    case .blob: "blob"
    }
  }
}
