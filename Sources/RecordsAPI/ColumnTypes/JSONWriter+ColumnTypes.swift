import JSON
import OrderedResults

// Values as the types of their columns have them: `protocol.md` §2.
extension JSONWriter {
  /// The members of a record with typed columns.
  mutating func typedColumns(of record: Record, _ form: RecordForm) {
    record.withColumns { columns in
      for (index, name) in form.layout.columns.enumerated() {
        self.name(name)
        shown(form.shown(columns.next() ?? .null, ofColumn: index, of: record))
      }
    }
  }

  /// The value that a column had in a record.
  mutating func value(_ value: Value, ofColumn index: Int, of record: Record, _ form: RecordForm) {
    value.withView { shown(form.shown($0, ofColumn: index, of: record)) }
  }

  private mutating func shown(_ value: ShownValue) {
    switch value {
    case .stored(let view): column(view)
    case .boolean(let boolean): self.boolean(boolean)
    case .moment(let text): text.bytes.withUnsafeBytes { string(utf8: $0) }
    case .json(let text): json(utf8: text)
    case .url(let url, let bytes):
      object { json in
        json.member("url", url)
        json.member("bytes", bytes)
      }
    }
  }
}
