import GRDB
import GRDBSQLite
import HeldMemory
import OrderedResults
import QueryAnalysis

/// To which owners the rows of a query's tables contribute.
///
/// Never less than the truth, and sometimes more: what a row contributed to before another row's
/// change may stay until the row changes itself. That costs a look at an owner, and no more; when
/// so much has gathered, the whole is thrown away.
struct Contributions {
  /// By the position of the table's rowid among those of a plan's contributions.
  private var owners: [RowOwners]
  private var limit = Int.max
  private(set) var numbers: GroupIdentifiers
  /// Of owners WITHOUT ROWID.
  private(set) var keys = OwnerKeys()
  /// Whether a group is not found again by what was read of it.
  private var hasLoss = false
  /// By group, the rows that are read for it, where no index finds them.
  private(set) var members: GroupMembers?
  /// Of UNION, which rows have which values.
  var appearances: Appearances?
  private let charge = MemoryCharge()

  /// How many owners there may be for each row, besides those of a few: where all are joined with all,
  /// leading costs more than it saves.
  private static let ownersPerRow = 16
  private static let few = 65_536

  /// Looks at all rows. O(n), n combinations of rows that the query and its subqueries look at.
  ///
  /// Fails where these are many times as many as the rows, and as the `records` of the result, and
  /// where a group is not found again by its values.
  init?(
    _ plan: IncrementalPlan, records: Int, arguments: QueryArguments, in db: Database
  ) throws {
    numbers = GroupIdentifiers(collations: plan.collations)
    members = plan.members.map(GroupMembers.init)
    owners = Array(
      repeating: RowOwners(), count: plan.contributions.last?.positions.upperBound ?? 0)
    for (number, contribution) in plan.contributions.enumerated() {
      let statement = try db.cachedStatement(sql: contribution.sql)
      statement.bind(arguments)
      defer { sqlite3_reset(statement.sqliteStatement) }
      while try statement.step(in: db) {
        _ = add(statement, of: number, plan)
        if hasLoss { return nil }
        let count = count
        if count > Self.few,
          count > Self.ownersPerRow * (records + owners.reduce(0) { $0 + $1.rows })
        {
          return nil
        }
      }
    }
    if members?.areTooFewGroups == true { return nil }
    for position in owners.indices { owners[position].trim() }
    members?.trim()
    if plan.appearances != nil {
      guard let all = try Appearances(plan, arguments: arguments, in: db) else { return nil }
      appearances = all
    }
    limit = 2 * count + 1024
    charge.set(
      owners.reduce(0) { $0 + $1.size } + keys.size + (members?.size ?? 0)
        + (appearances?.size ?? 0))
  }

  /// How many pairs there are of a row and an owner.
  private var count: Int { owners.reduce(0) { $0 + $1.count } }

  /// Whether too much has gathered that is no longer true, or something that leads nowhere.
  var isOutworn: Bool { max(count, keys.count) > limit || hasLoss }

  /// The number of a group.
  mutating func owner(of group: [Value]) -> Int64 { numbers.number(of: group) }

  /// Notes by what a row WITHOUT ROWID is read again.
  mutating func note(_ key: [Value], of owner: Int64) { keys.insert(key, owner) }

  /// Takes the owners of a row, to be entered anew.
  mutating func take(_ rowID: Int64, at position: Int, _ plan: IncrementalPlan) -> [Int64] {
    owners[position].take(rowID).flatMap { owners(of: $0, after: plan.link(at: position), plan) }
  }

  /// Lets go of rows that have left these groups.
  mutating func sweepMembers(of groups: some Sequence<Int64>) {
    guard let position = members?.position else { return }
    for group in groups {
      members?.sweep(group) { owners[position].contains(group, of: $0) }
    }
  }

  /// Enters a row of one of a plan's contributions, and returns its owners.
  mutating func enter(
    _ statement: Statement, of number: Int, _ plan: IncrementalPlan
  ) -> [Int64] {
    let owner = add(statement, of: number, plan)
    return owners(of: owner, after: plan.contributions[number].link, plan)
  }

  /// The owner of a number itself, or where that is the number of a value, all that have it, or have one
  /// of a row that has it.
  private func owners(
    of number: Int64, after link: ContributionStatement.Link?, _ plan: IncrementalPlan
  ) -> [Int64] {
    guard let link else { return [number] }
    let next = plan.link(at: link.position)
    let found = owners[link.position][number]
    return next == nil ? found : found.flatMap { owners(of: $0, after: next, plan) }
  }

  /// Enters a row of one of a plan's contributions, and returns its owner, or the number of the value
  /// that it shares with owners.
  private mutating func add(
    _ statement: Statement, of number: Int, _ plan: IncrementalPlan
  ) -> Int64 {
    let owner: Int64
    let contribution = plan.contributions[number]
    let first = contribution.keys.reduce(0) { $0 + ($1?.columns.count ?? 1) }
    switch plan.owner {
    case _ where contribution.link != nil:
      owner = contribution.link?.value.number(of: statement.values(at: first, count: 1)) ?? 0
    case .row: owner = sqlite3_column_int64(statement.sqliteStatement, Int32(first))
    case .keyedRow(_, let key):
      let values = statement.values(at: first, count: key.columns.count)
      owner = key.number(of: values)
      keys.insert(values, owner)
    case .rowOfArm(_, let arms), .values(_, let arms):
      let count = Int(sqlite3_column_count(statement.sqliteStatement)) - first
      let values = statement.values(at: first, count: count)
      let known = arms.number(of: values)
      hasLoss = hasLoss || known == nil
      owner = known ?? 0
      keys.insert(arms.key(of: values), owner)
    case .group(let columns):
      owner = numbers.number(
        of: columns.indices.map { statement.value(at: Int32(first + $0)) })
      if contribution.tellsLoss {
        let column = Int32(first + columns.count)
        hasLoss = hasLoss || sqlite3_column_type(statement.sqliteStatement, column) != SQLITE_NULL
      }
    }
    var column = 0
    for (position, key) in zip(contribution.positions, contribution.keys) {
      defer { column += key?.columns.count ?? 1 }
      // A row that a LEFT JOIN left out.
      if sqlite3_column_type(statement.sqliteStatement, Int32(column)) == SQLITE_NULL { continue }
      add(owner, of: statement.rowNumber(at: column, key), at: position)
    }
    return owner
  }

  private mutating func add(_ owner: Int64, of rowID: Int64, at position: Int) {
    if owners[position].insert(owner, of: rowID), members?.position == position {
      members?.insert(rowID, into: owner)
    }
  }
}

extension Statement {
  /// The values of some columns.
  fileprivate func values(at first: Int, count: Int) -> [Value] {
    (first..<first + count).map { value(at: Int32($0)) }
  }

  /// The rowid in a column, or the number of the row whose key begins there.
  fileprivate func rowNumber(at column: Int, _ key: TableKey?) -> Int64 {
    guard let key else { return sqlite3_column_int64(sqliteStatement, Int32(column)) }
    return key.number(of: values(at: column, count: key.columns.count))
  }
}

extension IncrementalPlan {
  /// What the numbers stand for that are kept at a position; nil: owners.
  fileprivate func link(at position: Int) -> ContributionStatement.Link? {
    contributions.first { $0.positions.contains(position) }?.link
  }
}
