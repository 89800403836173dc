package import OrderedResults

extension PlainResults {
  /// The meaning of a change set: what its events make of this result.
  ///
  /// These are the five steps of `protocol.md` §3, and each of their preconditions is checked.
  /// O(n + k log k), k changes to n records.
  package func applying(_ changes: ChangeSet) throws(ApplyError) -> PlainResults {
    try Self.checkOrder(changes.recordChanges)
    var steps = Application(self)
    try steps.takeOutRecords(changes.recordChanges)
    try steps.takeOutSections(changes.sectionChanges)
    try steps.putInSections(changes.sectionChanges)
    try steps.putInRecords(changes.recordChanges)
    try steps.replaceRecords(changes.recordChanges)
    return steps.results
  }

  /// `protocol.md` §4: deletions and moves by descending old index path, then insertions, then
  /// updates by ascending new one, and none twice.
  private static func checkOrder(_ changes: RecordChanges) throws(ApplyError) {
    var last: (step: Int, path: IndexPath)?
    for change in changes {
      let (step, path) =
        switch change {
        case .deletion(let path, _), .move(let path, _, _, _): (0, path)
        case .insertion(let path, _): (1, path)
        case .update(_, let path, _, _): (2, path)
        }
      if let last {
        guard step >= last.step else { throw .outOfOrder(path) }
        if step == last.step {
          guard step == 0 ? path < last.path : last.path < path else { throw .outOfOrder(path) }
        }
      }
      last = (step, path)
    }
  }
}

/// A result on the way to the next one.
private struct Application {
  /// A record, and where it was in the old result if it was there.
  typealias Row = (record: Record, from: IndexPath?)

  private let old: PlainResults
  private var sections: [(name: Value, indexTitle: String, rows: [Row])]

  init(_ old: PlainResults) {
    self.old = old
    sections = old.sections.enumerated().map { section, content in
      let rows = content.records.enumerated().map { item, record in
        (record, IndexPath(section: section, item: item)) as Row
      }
      return (content.name, content.indexTitle, rows)
    }
  }

  var results: PlainResults {
    var results = old
    results.sections = sections.map {
      PlainResults.Section(name: $0.name, indexTitle: $0.indexTitle, records: $0.rows.map(\.record))
    }
    return results
  }

  /// Step 1: takes out all records named by a deletion or a move.
  mutating func takeOutRecords(_ changes: RecordChanges) throws(ApplyError) {
    var leaving: Set<IndexPath> = []
    for change in changes {
      switch change {
      case .deletion(let path, let record), .move(let path, _, let record, _):
        guard let row = row(at: path) else { throw .noRecord(at: path) }
        guard showsSame(row.record, record) else { throw .otherRecord(at: path) }
        leaving.insert(path)
      case .insertion, .update: break
      }
    }
    for section in sections.indices {
      sections[section].rows.removeAll { $0.from.map(leaving.contains) ?? false }
    }
  }

  /// Step 2: takes out all sections named by a deletion, from the highest to the lowest.
  mutating func takeOutSections(_ changes: [SectionChange]) throws(ApplyError) {
    var last = Int.max
    for case .deletion(let index, let name, let indexTitle) in changes {
      guard index < last else { throw .sectionOutOfOrder(index) }
      guard sections.indices ~= index else { throw .noSection(index) }
      let section = sections[index]
      guard section.name == name, section.indexTitle == indexTitle else {
        throw .otherSection(index)
      }
      guard section.rows.isEmpty else {
        throw .sectionNotEmpty(index, numberOfRecords: section.rows.count)
      }
      sections.remove(at: index)
      last = index
    }
  }

  /// Step 3: puts in all sections named by an insertion, from the lowest to the highest, empty.
  mutating func putInSections(_ changes: [SectionChange]) throws(ApplyError) {
    var next = 0
    for change in changes {
      guard case .insertion(let index, let name, let indexTitle) = change else {
        // Deletions come first.
        guard next == 0 else { throw .sectionOutOfOrder(next) }
        continue
      }
      guard index >= next else { throw .sectionOutOfOrder(index) }
      guard index <= sections.count else { throw .noPlaceForSection(index) }
      sections.insert((name, indexTitle, []), at: index)
      next = index + 1
    }
  }

  /// Step 4: puts in all records named by an insertion or a move, from the lowest to the highest.
  mutating func putInRecords(_ changes: RecordChanges) throws(ApplyError) {
    var arrivals: [(path: IndexPath, record: Record)] = []
    for change in changes {
      switch change {
      case .insertion(let path, let record), .move(_, let path, _, let record):
        arrivals.append((path, record))
      case .deletion, .update: break
      }
    }
    arrivals.sort { $0.path < $1.path }
    for (left, right) in zip(arrivals, arrivals.dropFirst()) where left.path == right.path {
      throw .outOfOrder(right.path)
    }
    var rest = arrivals[...]
    for section in sections.indices {
      var staying = sections[section].rows[...]
      var rows: [Row] = []
      while let (path, record) = rest.first, path.section == section {
        let before = staying.prefix(max(0, path.item - rows.count))
        rows += before
        staying = staying[before.endIndex...]
        guard path.item == rows.count else { break }
        rows.append((record, nil))
        rest = rest.dropFirst()
      }
      sections[section].rows = rows + staying
    }
    if let arrival = rest.first { throw .noPlace(at: arrival.path) }
  }

  /// Step 5: replaces each record named by an update, at its new index path.
  mutating func replaceRecords(_ changes: RecordChanges) throws(ApplyError) {
    for case .update(let from, let path, let before, let after) in changes {
      guard let row = row(at: path), let place = row.from else { throw .noRecord(at: path) }
      guard place == from, showsSame(row.record, before) else { throw .otherRecord(at: path) }
      sections[path.section].rows[path.item] = (after, nil)
    }
  }

  private func row(at path: IndexPath) -> Row? {
    guard sections.indices ~= path.section, sections[path.section].rows.indices ~= path.item
    else { return nil }
    return sections[path.section].rows[path.item]
  }

  private func showsSame(_ left: Record, _ right: Record) -> Bool {
    old.layout.changedColumns(from: left, to: right).isEmpty
  }
}
