import JSON
import OrderedResults

extension RecordLayout {
  /// The columns that have a type.
  private var typedColumns: [(name: String, type: ColumnType)] {
    zip(columns, types).compactMap { name, type in type.map { (name, $0) } }
  }

  /// For people: `done boolean, photo image/png`.
  var typesInWords: String {
    typedColumns.map { name, type in
      if case .blob(let mediaType) = type { "\(name) \(mediaType)" } else { "\(name) \(type.word)" }
    }.joined(separator: ", ")
  }

  fileprivate func forEachType(_ body: (String, ColumnType) -> Void) {
    for (name, type) in typedColumns { body(name, type) }
  }
}

extension JSONWriter {
  /// What the columns mean, in the words of the configuration.
  mutating func columnTypes(of layout: RecordLayout) {
    object("columnTypes") { json in
      layout.forEachType { name, type in
        json.name(name)
        if case .blob(let mediaType) = type {
          json.object { $0.member("blob", mediaType) }
        } else {
          json.string(type.word)
        }
      }
    }
  }
}
