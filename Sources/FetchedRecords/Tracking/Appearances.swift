import Algorithms
import GRDB
import GRDBSQLite
import HeldMemory
import OrderedResults
import QueryAnalysis

/// Which values each row of UNION's SELECTs has, and how many rows have them: equal ones are one record,
/// which goes with the last of these rows.
///
/// Memory: 14 to 18 bytes for each row of the SELECTs, or up to 24 with large rowids, and as much for each
/// record that several have.
struct Appearances {
  /// By the row, the number of the values of the only record that it has.
  private var values = NumberMap()
  /// Of the rows that have several.
  private var others: [Int64: [Int64]] = [:]
  /// By the number of values, how many rows have them where these are several.
  private var counts = NumberMap()

  /// About the bytes that it takes.
  var size: Int { values.size + counts.size + 80 * others.count }

  /// Looks at all rows. O(n), n of them; nil: one has no number.
  ///
  /// - Throws: `Contributions.Refusal` where there is no room, and `DatabaseError`.
  init?(
    _ plan: IncrementalPlan, arguments: QueryArguments, meter: ResultMeter, in db: Database
  ) throws {
    guard case .values(let count, let arms) = plan.owner, let sql = plan.appearances else {
      return nil
    }
    var numbers: [Int64] = []
    // Until what is gathered is counted with the contributions.
    let charge = MemoryCharge(isOfAid: true)
    let statement = try db.cachedStatement(sql: sql)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    while try statement.step(in: db) {
      let end = sqlite3_column_count(statement.sqliteStatement)
      let first = end - Int32(count)
      guard let row = arms.number(of: (0..<first).map(statement.value)) else { return nil }
      var number = TableKey.NumberOfKey()
      for column in first..<end {
        let value = statement.view(at: column)
        if case .real(Value.leastInteger) = value { return nil }
        number.addExactly(value)
      }
      enter(number.value, of: row)
      numbers.append(number.value)
      if numbers.count.isMultiple(of: Contributions.step) {
        charge.set(size + numbers.count * MemoryLayout<Int64>.stride)
        guard meter.hasRoom(forAidOf: charge.bytes, isCounted: true) else {
          throw Contributions.Refusal.noMemory
        }
      }
    }
    values.trim()
    // Sorted, those of equal values stand together.
    numbers.sort()
    for run in numbers.chunked(by: ==) where run.count > 1 {
      counts[run[run.startIndex]] = Int64(run.count)
    }
    counts.trim()
  }

  /// The number of a record's values.
  static func number(of values: some Sequence<Value>) -> Int64 {
    TableKey.NumberOfKey(exactly: values).value
  }

  private mutating func enter(_ number: Int64, of row: Int64) {
    if others[row] != nil {
      others[row]?.append(number)
    } else if let first = values[row] {
      values[row] = nil
      others[row] = [first, number]
    } else {
      values[row] = number
    }
  }

  private mutating func take(_ row: Int64) -> [Int64] {
    if let several = others.removeValue(forKey: row) { return several }
    guard let one = values[row] else { return [] }
    values[row] = nil
    return [one]
  }

  /// Enters which values rows have now.
  ///
  /// O(k), k values that the rows had or have.
  ///
  /// - Parameters:
  ///   - rows: by the rows, the numbers of their values.
  ///   - isShown: whether a record has values of a number.
  /// - Returns: the numbers of the values that no row has any more, and of those that none had; nil: it was
  ///   not known which rows have them.
  mutating func replace(
    _ rows: [(row: Int64, values: [Int64])], isShown: (Int64) -> Bool
  ) -> (gone: [Int64], new: [Int64])? {
    var changes: [Int64: Int64] = [:]
    for (row, values) in rows {
      for number in take(row) { changes[number, default: 0] -= 1 }
      for number in values {
        changes[number, default: 0] += 1
        enter(number, of: row)
      }
    }
    var (gone, new): ([Int64], [Int64]) = ([], [])
    for (number, change) in changes where change != 0 {
      let before = counts[number] ?? (isShown(number) ? 1 : 0)
      let count = before + change
      if count < 0 { return nil }
      counts[number] = count > 1 ? count : nil
      if before == 0 { new.append(number) }
      if count == 0 { gone.append(number) }
    }
    return (gone, new)
  }
}

extension Statement {
  /// A column of the present row, until that goes.
  fileprivate func view(at column: Int32) -> ColumnView {
    let bytes = { (start: UnsafeRawPointer?) in
      UnsafeRawBufferPointer(
        start: start, count: Int(sqlite3_column_bytes(self.sqliteStatement, column)))
    }
    return switch sqlite3_column_type(sqliteStatement, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(sqliteStatement, column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(sqliteStatement, column))
    case SQLITE_TEXT: .text(bytes(sqlite3_column_text(sqliteStatement, column)))
    case SQLITE_BLOB: .blob(bytes(sqlite3_column_blob(sqliteStatement, column)))
    default: .null
    }
  }
}
