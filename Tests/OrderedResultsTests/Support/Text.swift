@testable import OrderedResults

// Short texts for expectations and for the messages of failing tests.

extension Value {
  var text: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
    case .blob(let bytes): "x\(bytes)"
    }
  }
}

extension Record {
  var text: String { "(\(values.map(\.text).joined(separator: " ")))" }
}

extension Results {
  var text: String {
    sections.map { section in
      let end = section.offset + section.numberOfRecords
      let records = records(in: section.offset..<end).map(\.text).joined(separator: " ")
      return "\(section.name.text)/\(section.indexTitle): \(records)"
    }.joined(separator: " | ")
  }
}

extension ChangeSet {
  /// One line a change: what, where, the key, and the old values of the columns that differ.
  func text(_ layout: RecordLayout) -> String {
    (sectionChanges.map(\.text) + recordChanges.map { $0.text(layout) }).joined(separator: "\n")
  }
}

extension SectionChange {
  var text: String {
    switch self {
    case .insertion(let index, let name, let title): "+ section \(index) \(name.text)/\(title)"
    case .deletion(let index, let name, let title): "- section \(index) \(name.text)/\(title)"
    }
  }
}

extension RecordChange {
  func text(_ layout: RecordLayout) -> String {
    func key(_ record: Record) -> String {
      layout.key(of: record)?.map(\.text).joined(separator: ",") ?? record.text
    }
    func changes(_ old: Record, _ new: Record) -> String {
      layout.changedColumns(from: old, to: new).map {
        " \(layout.columns[$0]): \(old.value($0).text)"
      }.joined()
    }
    switch self {
    case .insertion(let path, let record): return "insertion \(path) \(key(record))"
    case .deletion(let path, let record): return "deletion \(path) \(key(record))"
    case .move(let from, let to, let old, let new):
      return "move \(from) -> \(to) \(key(new))\(changes(old, new))"
    case .update(let from, let to, let old, let new):
      return "update \(from) -> \(to) \(key(new))\(changes(old, new))"
    }
  }
}
