extension Results {
  /// The records that go and come where some columns run through all: also those that have other values there
  /// because of that.
  ///
  /// From each record that goes or comes on, values are worked out until they are what they were.
  ///
  /// - Parameters:
  ///   - removed: records of these results.
  ///   - added: records of the next ones, with whatever in these columns.
  ///   - columns: those that run through all.
  ///   - order: the total order of both results, which looks at none of the columns.
  ///   - most: no more records may go.
  /// - Returns: nil where more would go, SQLite alone can tell a value, or these are not the results that
  ///   `removed` tells of.
  ///
  /// O(k log n + p) for k records that go or come, among n, and p whose values are worked out.
  package func running(
    removed: [Record], added: [Record], _ columns: [RunningColumn], by order: RecordOrder,
    atMost most: Int
  ) -> (removed: [Record], added: [Record])? {
    var values = RunningValues(self, columns, order, most)
    guard values.enter(removed), values.follow(added) else { return nil }
    return (values.removed, values.added)
  }
}

/// The work of ``Results/running(removed:added:_:by:atMost:)``.
private struct RunningValues: ~Copyable {
  private(set) var removed: [Record] = []
  private(set) var added: [Record] = []
  private let old: Results
  private let columns: [RunningColumn]
  private let order: RecordOrder
  private let most: Int
  private let isOfOffset: Bool
  /// Columns that show what the record behind has in another one, and that one.
  private let leading: [(index: Int, other: Int)]
  /// The offsets of records that go, those behind the present one, last first.
  private var gone: [Int] = []
  /// How many more records there are than before, up to the present one.
  private var shift = 0
  /// The record before the present one.
  private var last: Placed?
  private var encoder = RecordEncoder()

  init(_ old: Results, _ columns: [RunningColumn], _ order: RecordOrder, _ most: Int) {
    (self.old, self.columns, self.order, self.most) = (old, columns, order, most)
    isOfOffset = columns.contains(where: \.isOfOffset)
    leading = columns.enumerated().compactMap { index, column in
      if case .behind(let other) = column.kind { (index, other) } else { nil }
    }
  }

  /// A record of the next results, of which all is known but what is behind it.
  private struct Placed {
    let record: Record
    var values: [Value]
    let origin: Origin
    /// How many of the records that go are before it.
    let gone: Int

    enum Origin {
      case new
      /// An old one, as far as is known as it was.
      case kept
      /// An old one with other values.
      case changed
    }
  }

  mutating func enter(_ records: [Record]) -> Bool {
    for record in records {
      let (offset, isThere) = old.position(of: record, by: order, in: 0..<old.count)
      guard isThere else { return false }
      gone.append(offset)
    }
    gone.sort(by: >)
    return true
  }

  /// False where it is not known what these records and those behind them have.
  mutating func follow(_ records: [Record]) -> Bool {
    // Those to come, the last first.
    var coming = records.sorted { order.compare($0, $1) > 0 }
      .map { (record: $0, offset: old.position(of: $0, by: order, in: 0..<old.count).offset) }
    while let start = [gone.last, coming.last?.offset].compactMap(\.self).min() {
      // Whatever is before this has the values that it had.
      guard begin(behind: start - 1) else { return false }
      var next = start
      var isSettled = false
      while !isSettled {
        while let arrival = coming.last, arrival.offset <= next {
          coming.removeLast()
          guard enter(arrival.record, at: next) else { return false }
        }
        guard next < old.count else {
          finishLast(before: nil)
          return removed.count <= most
        }
        guard let settled = keep(next) else { return false }
        isSettled = settled
        next += 1
      }
    }
    return removed.count <= most
  }

  private mutating func begin(behind offset: Int) -> Bool {
    last = nil
    if offset < 0 { return true }
    let record = old[offset]
    guard let values = values(in: record) else { return false }
    last = Placed(record: record, values: values, origin: .kept, gone: removed.count)
    return true
  }

  /// Takes the last record for what it is, with what is behind it.
  private mutating func finishLast(before next: Record?) {
    guard var last else { return }
    self.last = nil
    var origin = last.origin
    for (index, other) in leading {
      let value = next?.value(other) ?? .null
      if value == last.values[index] { continue }
      last.values[index] = value
      if origin == .kept { origin = .changed }
    }
    if origin == .kept { return }
    let placed = record(last.record, with: last.values)
    if origin == .changed {
      removed.insert(last.record, at: last.gone)
    } else if last.gone < removed.count, removed[last.gone] == placed {
      // It was read again and is what it was.
      removed.remove(at: last.gone)
      return
    }
    added.append(placed)
  }

  /// A record that comes, before the old one at an offset; returns whether its values are known.
  private mutating func enter(_ record: Record, at offset: Int) -> Bool {
    guard let values = next(record, offset: offset + shift) else { return false }
    finishLast(before: record)
    last = Placed(record: record, values: values, origin: .new, gone: removed.count)
    shift += 1
    return true
  }

  /// Works out what an old record has; returns whether those behind it have what they had, or nil where that
  /// is not known.
  private mutating func keep(_ offset: Int) -> Bool? {
    let record = old[offset]
    if gone.last == offset {
      gone.removeLast()
      shift -= 1
      removed.append(record)
      return removed.count <= most ? false : nil
    }
    guard var values = next(record, offset: offset + shift), let before = self.values(in: record)
    else { return nil }
    // It is behind the same one, as far as is known.
    for (index, _) in leading { values[index] = before[index] }
    finishLast(before: record)
    let isKept = values == before
    last = Placed(
      record: record, values: values, origin: isKept ? .kept : .changed, gone: removed.count)
    if isKept { return shift == 0 || !isOfOffset }
    return removed.count <= most ? false : nil
  }

  // MARK: - Values

  /// The values of the next record, without what is behind it; nil: SQLite alone can tell one.
  private func next(_ record: Record, offset: Int) -> [Value]? {
    var values: [Value] = []
    for (index, column) in columns.enumerated() {
      let number = Value.integer(Int64(offset + 1))
      let before = last?.values[index] ?? .null
      switch column.kind {
      case .number: values.append(number)
      case .rank: values.append(isEqualToLast(record, column) ? before : number)
      case .denseRank:
        values.append(before.adding(isEqualToLast(record, column) ? 0 : 1))
      case .count(let other):
        values.append(before.adding(record.value(other) == .null ? 0 : 1))
      case .before(let other): values.append(last?.record.value(other) ?? .null)
      case .behind: values.append(.null)
      case .sum(let other), .greatest(let other), .least(let other):
        guard let value = column.kind.value(record.value(other), after: before) else { return nil }
        values.append(value)
      }
    }
    return values
  }

  private func isEqualToLast(_ record: Record, _ column: RunningColumn) -> Bool {
    last.map { order.areEqual($0.record, record, terms: column.terms) } == true
  }

  /// nil: one that is counted or added is neither an integer nor NULL.
  private func values(in record: Record) -> [Value]? {
    var values: [Value] = []
    for column in columns {
      let value = record.value(column.column)
      switch (column.kind, value) {
      case (.before, _), (.behind, _), (_, .integer), (_, .null): values.append(value)
      case (_, .real), (_, .text), (_, .blob): return nil
      }
    }
    return values
  }

  private mutating func record(_ record: Record, with values: [Value]) -> Record {
    encoder.begin()
    record.withColumns { reader in
      var position = 0
      while let view = reader.next() {
        if let index = columns.firstIndex(where: { $0.column == position }) {
          encoder.append(values[index])
        } else {
          encoder.append(view)
        }
        position += 1
      }
    }
    return encoder.makeRecord()
  }
}

extension Value {
  /// A count with so many more; NULL is none.
  fileprivate func adding(_ more: Int64) -> Value {
    if case .integer(let count) = self { .integer(count + more) } else { .integer(more) }
  }
}

extension RunningColumn.Kind {
  /// What a sum, the greatest or the least is with one more value; nil: SQLite alone can tell.
  fileprivate func value(_ value: Value, after before: Value) -> Value? {
    switch (value, before) {
    case (.null, _): return before
    case (.integer, .null): return value
    case (.integer(let term), .integer(let known)):
      switch self {
      case .greatest: return .integer(max(known, term))
      case .least: return .integer(min(known, term))
      default:
        let (sum, overflows) = known.addingReportingOverflow(term)
        return overflows ? nil : .integer(sum)
      }
    // Sums of these depend on what was added first, and of 1 and 1.0 either may be the greatest.
    default: return nil
    }
  }
}

extension RecordEncoder {
  fileprivate mutating func append(_ view: ColumnView) {
    switch view {
    case .null: appendNull()
    case .integer(let integer): append(integer)
    case .real(let real): append(real)
    case .text(let bytes): append(text: bytes)
    case .blob(let bytes): append(blob: bytes)
    }
  }
}
