import OrderedResults
import QueryAnalysis
import Yams

/// The words of a column's type that has more to say than its name.
package enum ColumnWord: String, ConfigurationWord {
  case blob

  package static let owner = "a column's type"
  package static let synonyms: [String: ColumnWord] = [
    "image": .blob, "bytes": .blob, "url": .blob, "mediatype": .blob, "type": .blob,
  ]
}

extension ConfigurationReader {
  /// `declared`, `raw`, or for a query the types of columns by their names; what is not named has the
  /// type that its table declares.
  ///
  /// - Parameters:
  ///   - node: the value of `columns`.
  ///   - query: its name; nil: the word is the file's own.
  /// - Returns: the types.
  mutating func columnTypes(_ node: Node, of query: String?) -> ColumnTypes {
    if let text = node.scalar?.string, node.kind == "text" {
      if let types = Self.allColumns[text] { return types }
      note(
        node.position, "`columns` is \"\(text)\", neither declared nor raw",
        mend: query == nil ? "write one of the two" : "write one of the two, or {NAME: TYPE}")
      return .inferred
    }
    guard let query else {
      note(node.position, "`columns` is \(node.kind), not text", mend: "write declared or raw")
      return .inferred
    }
    if node.sequence != nil {
      note(
        node.position, "`columns` is a list, not a mapping",
        mend: "write {NAME: TYPE}; which columns there are, `fields` says")
      return .inferred
    }
    var types = ColumnTypes.inferred
    for (name, key, value) in entries(node, "`columns`", example: "{NAME: TYPE}") ?? [] {
      configuration.positions[.query(query, .entry(.columns, name))] = key.position
      if let type = columnType(value, of: name) { types.declared[name] = type }
    }
    return types
  }

  /// The file's own `columns` is for the queries that say nothing else.
  mutating func takeColumnTypes() {
    for index in configuration.queries.indices {
      let name = configuration.queries[index].name
      if configuration.positions[.query(name, .word(.columns))] == nil {
        configuration.queries[index].columnTypes = configuration.columnTypes
      } else if !configuration.queries[index].columnTypes.declared.isEmpty {
        configuration.queries[index].columnTypes.areInferred =
          configuration.columnTypes.areInferred
      }
    }
  }

  private static let allColumns = ["declared": ColumnTypes.inferred, "raw": ColumnTypes()]

  /// nil: it is noted what is wrong; nil in it: the column is shown as it is stored.
  private mutating func columnType(_ node: Node, of column: String) -> ColumnType?? {
    if node.mapping != nil {
      return mediaType(node, of: column).map { .some(.blob(mediaType: $0)) }
    }
    guard let text = text(node, "the type of \"\(column)\"") else { return nil }
    switch text {
    case "raw": return .some(nil)
    case "boolean": return .boolean
    case "date": return .date(readsNumbers: true)
    case "datetime": return .datetime(readsNumbers: true)
    case "json": return .json
    default:
      note(node.position, "\"\(text)\" is not a type of a column", mend: Self.mend(typo: text))
      return nil
    }
  }

  private static func mend(typo text: String) -> String {
    let types = ["boolean", "date", "datetime", "json", "raw"]
    if text.lowercased() == "blob" || text.contains("/") {
      return "write {blob: \(text.contains("/") ? text : "image/png")}"
    }
    let nearest = synonyms[text.lowercased()] ?? NearestWord.find(text, among: types)
    return nearest.map { "did you mean \"\($0)\"?" }
      ?? "the types are \(types.joined(separator: ", ")), {blob: MEDIA/TYPE}"
  }

  private static let synonyms = [
    "bool": "boolean", "timestamp": "datetime", "time": "datetime", "jsonb": "json",
    "object": "json", "array": "json", "none": "raw", "text": "raw", "string": "raw",
    "integer": "raw", "real": "raw", "number": "raw",
  ]

  private mutating func mediaType(_ node: Node, of column: String) -> String? {
    let what = "the type of \"\(column)\""
    guard node.mapping?.isEmpty == false else {
      note(node.position, "\(what) is empty", mend: "write {blob: image/png}")
      return nil
    }
    guard let value = read(node, as: ColumnWord.self, what: what)?.first?.value else { return nil }
    guard let text = text(value, "`blob`") else { return nil }
    // RFC 9110 §8.3.1; it is sent in a header as it is.
    let mediaType =
      #/
      [\w!\#$%&'*+.^`|~-]+ \/ [\w!\#$%&'*+.^`|~-]+ (;\x20?[\w!\#$%&'*+.^`|~-]+=[\w!\#$%&'*+.^`|~-]+)*
      /#
    guard text.utf8.allSatisfy({ $0 < 0x80 }), text.wholeMatch(of: mediaType) != nil
    else {
      note(
        value.position, "`blob` is \"\(text)\", which is no media type",
        mend: "write TYPE/SUBTYPE, such as image/png or application/octet-stream")
      return nil
    }
    return text
  }
}
