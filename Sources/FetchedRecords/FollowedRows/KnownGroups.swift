import GRDB
import OrderedResults
import QueryAnalysis

/// What is known at the present commit of the groups that a query shows.
struct KnownGroups {
  /// Those of which rows have come or gone since what is shown, or other groups, too: by what all rows of a group have
  /// in common.
  let changed: Set<[Value]>
  /// By the number of the rows among ``GroupTally/rows``.
  let rows: [Rows]

  /// How many groups there are.
  var count: Int { rows.map(\.totals.count).max() ?? 0 }

  /// The same, taking all groups for changed that there are. O(g) for g groups.
  var withAllChanged: KnownGroups {
    let all = rows.reduce(into: changed) { $0.formUnion($1.totals.allGroups) }
    return KnownGroups(changed: all, rows: rows)
  }

  /// How many rows are known.
  var rowCount: Int { rows.map(\.results.count).max() ?? 0 }

  /// Rows of all groups, and what those of each come to.
  struct Rows {
    let totals: GroupTotals
    let results: Results
    let order: RecordOrder
  }
}

extension FollowedRows {
  /// The rows of the present commit, and what each group comes to; nil: they are not known.
  var groups: KnownGroups.Rows? {
    guard let present, let totals = present.snapshot.presented as? GroupTotals,
      let plan = present.snapshot.query.plan
    else { return nil }
    return KnownGroups.Rows(
      totals: totals, results: present.snapshot.results, order: plan.order)
  }
}

extension Refresher {
  /// What is known at the present commit of groups.
  ///
  /// - Parameters:
  ///   - followed: their rows.
  ///   - commit: where it has to be known which of them have changed, since which commit.
  /// - Returns: nil where they have to be read.
  func knownGroups(_ followed: [FollowedRows], _ commit: Int?) -> KnownGroups? {
    var changed: Set<[Value]> = []
    var all: [KnownGroups.Rows] = []
    for rows in followed {
      guard let groups = rows.groups else { return nil }
      all.append(groups)
      guard let commit else { continue }
      guard let others = rows.groupChanges?.groups(since: commit) else { return nil }
      changed.formUnion(others)
    }
    return KnownGroups(changed: changed, rows: all)
  }
}

/// What a query shows of a group.
enum GroupRecord {
  case shown(OrderedResults.Record)
  /// There is no such group, or a condition keeps it from the result.
  case none
  /// SQLite alone can tell.
  case unknown
}

extension GroupTally {
  /// What a group is grouped by.
  func key(of group: [Value]) -> [Value] { Array(group.prefix(keyColumns.count)) }

  /// The record of a group in its present state.
  ///
  /// O(a log n), a aggregates of n rows.
  ///
  /// - Throws: `DatabaseError`.
  func record(
    of group: [Value], _ known: KnownGroups, _ arguments: QueryArguments, in db: Database
  ) throws -> GroupRecord {
    let rows = known.rows[...]
    guard let isThere = known.rows[0].totals.contains(group) else { return .unknown }
    guard isThere else { return .none }
    if let having {
      guard let value = try value(having, of: group, rows, arguments, in: db) else {
        return .unknown
      }
      guard value == .integer(1) else { return .none }
    }
    var encoder = RecordEncoder()
    encoder.begin()
    for column in columns {
      switch column {
      case .term(let term): encoder.append(group[term])
      case .value(let value):
        guard let value = try self.value(value, of: group, rows, arguments, in: db) else {
          return .unknown
        }
        encoder.append(value)
      case .running: encoder.appendNull()
      }
    }
    return .shown(encoder.makeRecord())
  }

  /// What the rows of a group come to.
  ///
  /// - Parameters:
  ///   - value: of them.
  ///   - group: what they have in common.
  ///   - known: what is known of the rows, those of this tally.
  ///   - arguments: the query's.
  ///   - db: computes with it.
  /// - Returns: nil where SQLite alone can tell.
  /// - Throws: `DatabaseError`.
  fileprivate func value(
    _ value: GroupValue, of group: [Value], _ known: ArraySlice<KnownGroups.Rows>,
    _ arguments: QueryArguments, in db: Database
  ) throws -> Value? {
    var aggregates: [Value] = []
    for (aggregate, number) in zip(value.plan.aggregates, value.rows) {
      let rows = known[known.startIndex + number]
      guard
        let value = rows.totals.value(
          of: aggregate, in: group, among: rows.results, by: rows.order)
      else { return nil }
      aggregates.append(value)
    }
    return try value.plan.value(of: aggregates, arguments, in: db)
  }
}

extension OwnedTallies {
  /// What stands for the aggregates of the rows that refer to a row.
  ///
  /// O(a log n), a aggregates of n rows.
  ///
  /// - Parameters:
  ///   - key: what they refer to it by.
  ///   - known: what is known of all rows.
  ///   - arguments: the query's.
  ///   - db: computes with it.
  /// - Returns: the arguments with it; nil where SQLite alone can tell.
  /// - Throws: `DatabaseError`.
  func arguments(
    of key: Value, _ known: KnownGroups, _ arguments: QueryArguments, in db: Database
  ) throws -> QueryArguments? {
    var taken = arguments
    var rest = known.rows[...]
    for part in parts {
      let rows = rest.prefix(part.tally.rows.count)
      rest = rest.dropFirst(rows.count)
      let columns = part.tally.columns.compactMap { column -> GroupValue? in
        if case .value(let value) = column { value } else { nil }
      }
      for (parameter, column) in zip(part.parameters, columns) {
        guard
          let value = try part.tally.value(
            column, of: [key], rows, arguments, in: db)
        else { return nil }
        taken[parameter] = value
      }
    }
    return taken
  }

  /// By what rows refer to a row.
  ///
  /// - Parameters:
  ///   - owner: the row's rowid.
  ///   - db: has it.
  /// - Returns: NULL where it is not there.
  /// - Throws: `DatabaseError`.
  func key(of owner: Int64, in db: Database) throws -> Value {
    guard let key else { return .integer(owner) }
    var value = Value.null
    try key.forEach([owner], arguments: [:], in: db) { statement in
      if try statement.step(in: db) { value = statement.value(at: 0) }
    }
    return value
  }
}
