import JSON
import OrderedResults

// SQLite's values as `protocol.md` §2 has them.
extension JSONWriter {
  mutating func value(_ value: Value) { value.withView { column($0) } }

  mutating func member(_ name: String, _ value: Value) {
    self.name(name)
    self.value(value)
  }

  /// Values by name, in the order of the names.
  mutating func object(_ name: StaticString, _ values: [String: Value]) {
    object(name) { json in
      for (name, value) in values.sorted(by: { $0.key < $1.key }) { json.member(name, value) }
    }
  }

  mutating func indexPath(_ name: StaticString, _ path: IndexPath) {
    array(name) { json in
      json.integer(Int64(path.section))
      json.integer(Int64(path.item))
    }
  }

  /// A record's visible columns, in their order.
  mutating func record(_ record: Record, _ form: RecordForm) {
    begin("{")
    if form.layout.types.isEmpty {
      record.withColumns { columns in
        for name in form.layout.columns {
          self.name(name)
          column(columns.next())
        }
      }
    } else {
      typedColumns(of: record, form)
    }
    end("}")
  }

  mutating func column(_ column: ColumnView?) {
    switch column {
    case nil, .null: null()
    case .integer(let integer): self.integer(integer)
    case .real(let real): self.real(real)
    case .text(let text): string(utf8: text)
    case .blob(let bytes): blob(bytes)
    }
  }

  /// A record's key: always an array; empty where no key is known. Its values are as they are stored,
  /// whatever types their columns have: URLs are made of them.
  mutating func key(of record: Record, layout: RecordLayout) {
    array("key") { json in
      for column in layout.key ?? [] { json.value(record.value(column)) }
    }
  }

  mutating func section(_ section: Section, index: Int) {
    object { json in
      json.member("index", index)
      json.name("name")
      json.value(section.name)
      json.member("indexTitle", section.indexTitle)
      json.member("numberOfRecords", section.numberOfRecords)
      json.member("offset", section.offset)
    }
  }
}
