import GRDB
import OrderedResults

/// Cuts results into sections that a closure names.
///
/// The name is kept in a column of its own behind all others, so that a record is asked for it only
/// when it has changed.
struct SectionDerivation {
  let shape: RowShape
  let sectionOfRow: @Sendable (Row) throws -> Value

  /// - Throws: `SectionError`, and whatever the closure throws. O(n) copies, n records.
  func results(of base: Results) throws -> Results {
    try derive(base, reusing: { _ in nil })
  }

  /// The results after a change; k of their n records are new or changed.
  ///
  /// O(n) copies and k calls of the closure.
  func results(
    of base: Results, changes: ChangeSet, after old: Results
  ) throws -> Results {
    var survivors = Survivors(changes)
    let column = old.layout.columnCount - 1
    return try derive(base) { offset in
      survivors.oldOffset(of: offset).map { old[$0].value(column) }
    }
  }

  private func derive(_ base: Results, reusing known: (Int) -> Value?) throws -> Results {
    var builder = ResultsBuilder(layout: base.layout.withDerivedSection)
    var encoder = RecordEncoder()
    for (offset, record) in base.records(in: 0..<base.count).enumerated() {
      encoder.begin()
      for value in record.values { encoder.append(value) }
      encoder.append(try known(offset) ?? name(of: record))
      builder.append(encoder)
    }
    return try builder.finishWithoutChanges()
  }

  private func name(of record: OrderedResults.Record) throws -> Value {
    guard let row = try shape.rows(CollectionOfOne(record)).first else { return .null }
    return try sectionOfRow(row)
  }
}

extension RecordLayout {
  fileprivate var withDerivedSection: RecordLayout {
    RecordLayout(
      columns: columns, columnCount: columnCount + 1, key: key, keyIsUnique: keyIsUnique,
      keyNames: keyNames, section: columnCount)
  }
}

/// Finds where the records that did not change stood before; asked with ascending offsets.
private struct Survivors {
  /// Ascending.
  private var departures: ArraySlice<Int>
  private var arrivals: Set<Int>
  private var updated: Set<Int> = []
  private var nextOld = 0

  /// Of results that have one section.
  init(_ changes: ChangeSet) {
    var (departures, arrivals) = ([Int](), Set<Int>())
    for change in changes.recordChanges {
      switch change {
      case .insertion(let path, _): arrivals.insert(path.item)
      case .deletion(let path, _): departures.append(path.item)
      case .move(let from, let to, _, _):
        departures.append(from.item)
        arrivals.insert(to.item)
      case .update(_, let to, _, _): updated.insert(to.item)
      }
    }
    self.departures = departures.sorted()[...]
    self.arrivals = arrivals
  }

  mutating func oldOffset(of offset: Int) -> Int? {
    if arrivals.contains(offset) { return nil }
    while departures.first == nextOld {
      departures.removeFirst()
      nextOld += 1
    }
    defer { nextOld += 1 }
    return updated.contains(offset) ? nil : nextOld
  }
}
