import Algorithms
import HashTreeCollections
import HeldMemory
import OrderedResults
import QueryAnalysis

/// What the rows of each group come to, kept up with each row that comes or goes.
///
/// A copy shares what has not changed since.
struct GroupTotals: Sendable {
  /// By what all rows of a group have in common.
  private var groups: TreeDictionary<[Value], RunningTotals> = [:]
  /// The same, without reals that equal integers, of their first column, of which equal values count once.
  private var once: TreeDictionary<[Value], ColumnTotals> = [:]
  /// The order in which rows with the same value stand side by side in a group; nil: each of them counts.
  private let runs: RecordOrder?
  private let termCount: Int
  private let columnCount: Int
  private let charge = MemoryCharge(isOfAid: true)
  /// By what the rows of a group have in common, how many of them have integers, and reals that equal one: where both
  /// are there, SQLite takes them for one group, which shows either. And so 0.0 and -0.0.
  private var integerRows: [Int]
  private var wholeRows: [Int]
  private var negativeZeroRows = 0
  /// Whether a group has had reals that are added up with all their bits.
  private var hasCompensatedSums = false

  /// A group is worth what its totals take where it has so many rows on average.
  private static let rowsOfGroup = 16
  /// Or where there are no more groups than these.
  private static let fewGroups = 4096
  /// About the bytes of a group, and of each of its columns, and how many more these take to add reals up.
  private static let bytesOfGroup = 120
  private static let bytesOfReals = 176

  /// Those of some rows; nil: there are too many groups. O(n), n rows.
  ///
  /// - Parameters:
  ///   - results: the rows.
  ///   - termCount: how many of their first columns all rows of a group have in common.
  ///   - order: the rows', where equal values of their next column count once.
  init?(of results: Results, termCount: Int, countingOnceBy order: RecordOrder? = nil) {
    self.termCount = termCount
    runs = order.map { RecordOrder(Array($0.terms.prefix { $0.column <= termCount })) }
    columnCount = results.layout.columns.count - termCount
    integerRows = Array(repeating: 0, count: termCount)
    wholeRows = integerRows
    var last: Record?
    for record in results.records(in: 0..<results.count) {
      enter(record, 1)
      if let runs {
        if last.map({ runs.compare($0, record) != 0 }) ?? true { enterOnce(run(of: record), 1) }
        last = record
      }
      if !areWorthwhile(for: results.count) { return nil }
    }
    account()
  }

  /// O(k log n), k changes of n rows.
  ///
  /// - Parameters:
  ///   - changes: of the rows.
  ///   - old: the rows before.
  ///   - new: the rows now.
  /// - Returns: whether they are worth what they take.
  mutating func follow(_ changes: ChangeSet, from old: Results, to new: Results) -> Bool {
    changes.forEachComingOrGoing { enter($0, $1) }
    if let runs {
      var touched: Set<[Value]> = []
      changes.forEachComingOrGoing { record, _ in touched.insert(run(of: record)) }
      for run in touched {
        let was = !old.range(ofRecordsBeginningWith: run, by: runs).isEmpty
        let isThere = !new.range(ofRecordsBeginningWith: run, by: runs).isEmpty
        if was != isThere { enterOnce(run, isThere ? 1 : -1) }
      }
    }
    account()
    return areWorthwhile(for: new.count)
  }

  /// What the rows have in common that stand side by side and have the same value.
  private func run(of record: Record) -> [Value] {
    record.values(ofFirst: termCount + 1).map(\.wholeAsInteger)
  }

  /// Enters the value of a run, which has come, for a `sign` of 1, or gone, for one of -1.
  private mutating func enterOnce(_ run: [Value], _ sign: Int) {
    guard let value = run.last else { return }
    let group = Array(run.dropLast())
    var totals = once[group] ?? ColumnTotals()
    value.withView { totals.enter($0, sign) }
    once[group] = totals.count == 0 ? nil : totals
  }

  private func areWorthwhile(for count: Int) -> Bool {
    groups.count <= max(Self.fewGroups, count / Self.rowsOfGroup)
  }

  private func account() {
    let bytesOfColumn = Self.bytesOfGroup + (hasCompensatedSums ? Self.bytesOfReals : 0)
    charge.set(
      groups.count * (Self.bytesOfGroup + columnCount * bytesOfColumn) + once.count * bytesOfColumn)
  }

  private mutating func enter(_ record: Record, _ sign: Int) {
    let group = record.values(ofFirst: termCount)
    for (term, value) in group.enumerated() { noteKind(of: value, term, sign) }
    let (isGone, isCompensated) = groups.updateValue(
      forKey: group, default: RunningTotals(columnCount: columnCount)
    ) { totals in
      totals.enter(record, sign, from: termCount)
      return (totals.rowCount == 0, totals.columns.contains(where: \.hasCompensatedSum))
    }
    if isGone { groups[group] = nil }
    if isCompensated { hasCompensatedSums = true }
  }

  private mutating func noteKind(of value: Value, _ term: Int, _ sign: Int) {
    switch value {
    case .integer: integerRows[term] += sign
    case .real(let real):
      if Int64(exactly: real) != nil { wholeRows[term] += sign }
      if real == 0, real.sign == .minus { negativeZeroRows += sign }
    case .null, .text, .blob: break
    }
  }

  /// Whether it is certain which rows are of one group.
  var areGroupsCertain: Bool {
    negativeZeroRows == 0 && zip(integerRows, wholeRows).allSatisfy { $0 == 0 || $1 == 0 }
  }

  /// How many groups have rows.
  var count: Int { groups.count }

  /// What the rows of each group have in common.
  var allGroups: some Sequence<[Value]> { groups.keys }

  /// Whether a group has rows; nil: which rows are of it, is not certain.
  ///
  /// O(log g), g groups.
  func contains(_ group: [Value]) -> Bool? { areGroupsCertain ? groups[group] != nil : nil }

  /// The value of an aggregate of a group's rows, also where it has none.
  ///
  /// O(log g + log n), g groups, n rows.
  ///
  /// - Parameters:
  ///   - aggregate: of the rows.
  ///   - group: what they have in common.
  ///   - rows: those of all groups.
  ///   - order: the rows', which begins with what the rows of a group have in common, if the aggregate needs one.
  /// - Returns: nil where SQLite alone can tell.
  func value(
    of aggregate: Aggregate, in group: [Value], among rows: Results, by order: RecordOrder
  ) -> Value? {
    guard areGroupsCertain else { return nil }
    let totals = groups[group] ?? RunningTotals(columnCount: columnCount)
    if aggregate.countsOnce {
      let once = once[group.map(\.wholeAsInteger)] ?? ColumnTotals()
      return once.value(of: aggregate.function, among: totals.columns[0])
    }
    return totals.value(of: aggregate, from: termCount) {
      (rows, rows.range(ofRecordsBeginningWith: group, by: order))
    }
  }
}

extension ChangeSet {
  /// Each record that comes, with 1, and each that goes, with -1.
  func forEachComingOrGoing(_ body: (Record, Int) -> Void) {
    for change in recordChanges {
      switch change {
      case .insertion(_, let record): body(record, 1)
      case .deletion(_, let record): body(record, -1)
      case .move(_, _, let old, let new), .update(_, _, let old, let new):
        body(old, -1)
        body(new, 1)
      }
    }
  }
}

extension Value {
  /// An integer for a real that equals it: SQLite takes both for one value.
  fileprivate var wholeAsInteger: Value {
    if case .real(let real) = self, let integer = Int64(exactly: real) {
      .integer(integer)
    } else {
      self
    }
  }
}

extension Record {
  /// The values of its first columns.
  func values(ofFirst count: Int) -> [Value] {
    withColumns { reader in
      (0..<count).map { _ in reader.next()?.value ?? .null }
    }
  }
}

extension Results {
  /// Where the records are whose first columns have some values. O(log n), n records.
  ///
  /// - Parameters:
  ///   - values: the values.
  ///   - order: that of the records, by those columns first.
  /// - Returns: their offsets.
  fileprivate func range(
    ofRecordsBeginningWith values: [Value], by order: RecordOrder
  ) -> Range<Int> {
    var encoder = RecordEncoder()
    encoder.begin()
    for value in values { encoder.append(value) }
    let wanted = encoder.makeRecord()
    let order = RecordOrder(Array(order.terms.prefix { $0.column < values.count }))
    let start = (0..<count).partitioningIndex { order.compare(self[$0], wanted) >= 0 }
    let end = (start..<count).partitioningIndex { order.compare(self[$0], wanted) > 0 }
    return start..<end
  }
}
