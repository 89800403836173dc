@testable import OrderedResults

/// A result as plain arrays: sections of records of visible values.
struct PlainResults: Equatable, CustomStringConvertible {
  struct PlainSection: Equatable {
    var name: Value
    var indexTitle: String
    var records: [[Value]]
  }

  var sections: [PlainSection]

  init(_ results: Results) {
    sections = results.sections.map { section in
      PlainSection(
        name: section.name, indexTitle: section.indexTitle,
        records: results.records(in: section.offset..<section.offset + section.numberOfRecords)
          .map { results.layout.visibleValues($0) })
    }
  }

  var description: String {
    sections.map { "\($0.name) '\($0.indexTitle)': \($0.records)" }.joined(separator: "\n")
  }

  /// The five steps of `protocol.md` §3, word for word.
  mutating func apply(_ changes: ChangeSet, _ layout: RecordLayout) {
    // 1. Take out all records named by a deletion or a move, from the highest to the lowest.
    let departures = changes.recordChanges.compactMap { change -> IndexPath? in
      switch change {
      case .deletion(let at, _), .move(let at, _, _, _): at
      default: nil
      }
    }
    for path in departures.sorted(by: >) { sections[path.section].records.remove(at: path.item) }
    // 2. Take out all sections named by a deletion, from the highest to the lowest.
    for case .deletion(let index, _, _) in changes.sectionChanges {
      precondition(sections.remove(at: index).records.isEmpty)
    }
    // 3. Put in all sections named by an insertion, from the lowest to the highest, empty.
    for case .insertion(let index, let name, let indexTitle) in changes.sectionChanges {
      sections.insert(.init(name: name, indexTitle: indexTitle, records: []), at: index)
    }
    // 4. Put in all records named by an insertion or a move, from the lowest to the highest.
    let arrivals = changes.recordChanges.compactMap { change -> (IndexPath, Record)? in
      switch change {
      case .insertion(let at, let record), .move(_, let at, _, let record): (at, record)
      default: nil
      }
    }
    for (path, record) in arrivals.sorted(by: { $0.0 < $1.0 }) {
      sections[path.section].records.insert(layout.visibleValues(record), at: path.item)
    }
    // 5. Replace each record named by an update.
    for case .update(_, let path, _, let record) in changes.recordChanges {
      sections[path.section].records[path.item] = layout.visibleValues(record)
    }
  }
}

extension RecordLayout {
  func visibleValues(_ record: Record) -> [Value] { Array(record.values.prefix(columns.count)) }
}
