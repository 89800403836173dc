import OrderedResults
import QueryAnalysis

/// What the columns of some rows come to, kept up with each row that comes or goes.
///
/// It tells only what SQLite would tell as well, to the last bit, in whatever order it took the rows:
/// a state must have one name at all servers.
struct RunningTotals: Sendable {
  private(set) var rowCount = 0
  private(set) var columns: [ColumnTotals]

  /// Those of no rows.
  init(columnCount: Int) {
    columns = Array(repeating: ColumnTotals(), count: columnCount)
  }

  /// O(n), n rows.
  init(of results: Results) {
    self.init(columnCount: results.layout.columns.count)
    for record in results.records(in: 0..<results.count) { enter(record, 1) }
  }

  /// O(k), k changes.
  mutating func follow(_ changes: ChangeSet) {
    changes.forEachComingOrGoing { enter($0, $1) }
  }

  /// Adds a row, for a `sign` of 1, or takes it away, for one of -1.
  ///
  /// - Parameters:
  ///   - record: the row.
  ///   - sign: 1 or -1.
  ///   - first: so many of its columns are not taken.
  mutating func enter(_ record: Record, _ sign: Int, from first: Int = 0) {
    rowCount += sign
    record.withColumns { reader in
      reader.skip(first)
      for index in columns.indices {
        if let value = reader.next() { columns[index].enter(value, sign) }
      }
    }
  }

  /// The value of an aggregate of the rows.
  ///
  /// O(1), besides finding the rows, which `min` and `max` need.
  ///
  /// - Parameters:
  ///   - aggregate: of the rows.
  ///   - first: so many of their columns are not taken.
  ///   - rows: returns where the rows are, in the order of the aggregate's column.
  /// - Returns: nil where SQLite alone can tell.
  func value(
    of aggregate: Aggregate, from first: Int = 0, among rows: () -> (Results, Range<Int>)
  ) -> Value? {
    guard let column = aggregate.column else { return .integer(Int64(rowCount)) }
    let totals = columns[column - first]
    guard aggregate.function.isExtreme else { return totals.value(of: aggregate.function) }
    if totals.count == 0 { return .null }
    let (results, range) = rows()
    // NULLs come first.
    let offset =
      aggregate.function == .max ? range.upperBound - 1 : range.upperBound - totals.count
    let value = results[offset].value(column)
    return totals.mayHaveOther(equalTo: value) ? nil : value
  }
}

/// What one column comes to.
struct ColumnTotals {
  private var integers = 0
  private var reals = 0
  private var others = 0
  /// The sum of the integers, and that of their magnitudes.
  private var whole = WideSum()
  private var wholeMagnitude = WideSum()
  /// The same of the reals that are multiples of a unit, in units.
  private var units = WideSum()
  private var unitsMagnitude = WideSum()
  /// The other reals.
  private var inexact = 0
  private var compensated = CompensatedSum()
  /// How many are in none of these sums.
  private var unsummed = 0

  /// Sums of multiples of 1/1024 are exact as long as none is beyond 2^53 of them.
  private static let unitsOfOne: Int64 = 1024
  private static let exactBound: Int64 = 1 << 53
  /// Beyond this SQLite adds an integer to reals in two parts.
  private static let largestPart: Int64 = 1 << 52
  private static let largestReal = 0x1p42

  /// Whether reals are added up with all their bits, which takes more memory.
  var hasCompensatedSum: Bool { !compensated.isUnused }

  /// How many are not NULL.
  var count: Int { integers + reals + others }

  mutating func enter(_ value: ColumnView, _ sign: Int) {
    switch value {
    case .null: break
    case .integer(let integer):
      integers += sign
      whole.add(integer.magnitude, integer < 0 ? -sign : sign)
      wholeMagnitude.add(integer.magnitude, sign)
    case .real(let real):
      reals += sign
      let scaled = real * Double(Self.unitsOfOne)
      guard real.magnitude <= Self.largestReal, scaled == scaled.rounded() else {
        inexact += sign
        if !Aggregate.addsWithCompensation || !compensated.add(real, sign) { unsummed += sign }
        return
      }
      units.add(UInt64(scaled.magnitude), scaled < 0 ? -sign : sign)
      unitsMagnitude.add(UInt64(scaled.magnitude), sign)
    case .text, .blob: others += sign
    }
  }

  /// The value of an aggregate other than `min` and `max`.
  ///
  /// - Parameters:
  ///   - function: of the column.
  ///   - all: what the column comes to where each value counts as often as it is there, if these count once.
  /// - Returns: nil where SQLite alone can tell.
  func value(of function: Aggregate.Function, among all: ColumnTotals? = nil) -> Value? {
    switch function {
    case .count: return .integer(Int64(count))
    case .sum: return sum(among: all ?? self)
    case .total: return count == 0 ? .real(0) : exactTotal.map(Value.real)
    case .avg: return count == 0 ? .null : exactTotal.map { .real($0 / Double(count)) }
    case .min, .max: return nil
    }
  }

  /// The sum as SQLite has it: an integer where all are; nil: not certain.
  private func sum(among all: ColumnTotals) -> Value? {
    if count == 0 { return .null }
    // Of 1 and 1.0 either may be the one that counts.
    if reals != all.reals, all.reals > 0, all.integers > 0 { return nil }
    guard all.reals == 0 else { return exactTotal.map(Value.real) }
    guard others == 0, wholeMagnitude.value != nil else { return nil }
    return whole.value.map(Value.integer)
  }

  /// The sum as a real, which no order of the rows makes another; nil: not certain.
  private var exactTotal: Double? {
    guard others == 0, unsummed == 0, let whole = whole.value, let wholes = wholeMagnitude.value,
      wholes < Self.exactBound
    else { return nil }
    if reals == 0 { return Double(whole) }
    if inexact == 0, let units = units.value, let parts = unitsMagnitude.value,
      parts < Self.exactBound, wholes < Self.exactBound / Self.unitsOfOne,
      wholes * Self.unitsOfOne + parts < Self.exactBound
    {
      return Double(whole * Self.unitsOfOne + units) / Double(Self.unitsOfOne)
    }
    guard Aggregate.addsWithCompensation, wholes < Self.largestPart else { return nil }
    var sum = compensated
    sum.add(self.whole, magnitudes: wholeMagnitude)
    sum.add(units, magnitudes: unitsMagnitude, unit: 1 / Double(Self.unitsOfOne))
    return sum.value(count: integers + reals)
  }

  /// Whether the column may have another value that SQLite takes for equal: which one it shows, is its
  /// own choice.
  func mayHaveOther(equalTo value: Value) -> Bool {
    switch value {
    // 1 and 1.0
    case .integer: reals > 0
    // 0.0 and -0.0
    case .real(let real): real == 0 || (integers > 0 && real == real.rounded())
    case .null, .text, .blob: false
    }
  }
}
