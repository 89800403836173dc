package import OrderedResults

/// A result as plain arrays of records, in which change sets are applied step by step.
///
/// Two of them are equal where clients see no difference: in sections and visible columns.
package struct PlainResults: Equatable, CustomStringConvertible {
  package struct Section {
    package var name: Value
    package var indexTitle: String
    package var records: [Record]
  }

  package let layout: RecordLayout
  package var sections: [Section]

  package init(_ results: Results) {
    layout = results.layout
    sections = results.sections.map { section in
      Section(
        name: section.name, indexTitle: section.indexTitle,
        records: Array(
          results.records(in: section.offset..<section.offset + section.numberOfRecords)))
    }
  }

  /// The visible columns of a section's records.
  package func rows(_ section: Section) -> [[Value]] {
    section.records.map { layout.visibleValues($0) }
  }

  /// The keys of all records, in order; nil where none is known.
  package var keys: [[Value]?] {
    sections.flatMap { $0.records.map { layout.key(of: $0) } }
  }

  package var description: String {
    sections.map { "\($0.name) '\($0.indexTitle)': \(rows($0))" }.joined(separator: "\n")
  }

  package static func == (left: PlainResults, right: PlainResults) -> Bool {
    left.sections.count == right.sections.count
      && zip(left.sections, right.sections).allSatisfy {
        $0.name == $1.name && $0.indexTitle == $1.indexTitle && left.rows($0) == right.rows($1)
      }
  }
}

extension RecordLayout {
  package func visibleValues(_ record: Record) -> [Value] {
    Array(record.values.prefix(columns.count))
  }
}
