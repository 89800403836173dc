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
  /// In the place of ``owners`` where the rows of an owner are looked for as well.
  private var pairs: [PairedNumbers?]
  private var limit = Int.max
  private(set) var numbers: GroupIdentifiers
  /// Of owners WITHOUT ROWID.
  private(set) var keys = RowKeys()
  /// By the same positions, of rows WITHOUT ROWID that are read for an owner.
  private var rowKeys: [RowKeys?]
  /// Whether a group is not found again by what was read of it.
  private var hasLoss = false
  /// By group, the rows that are read for it, where no index finds them.
  private(set) var members: GroupMembers?
  /// Of UNION, which rows have which values.
  var appearances: Appearances?
  private let charge = MemoryCharge(isOfAid: true)
  private var commits = 0

  /// How many owners there may be for each row, besides those of a few: where all are joined with all,
  /// leading costs more than it saves.
  private static let ownersPerRow = 16
  private static let few = 65_536

  /// Why they are not kept.
  enum Refusal: Error {
    /// They are many times as many as the rows, and as the records of the result, or groups are few.
    case tooMany
    /// A group is not found again by its values, which the next commit may change.
    case loss
    /// What is shown needs the room.
    case noMemory

    /// In a word fit to label a metric.
    var reason: String {
      switch self {
      case .tooMany, .loss: "manyContributions"
      case .noMemory: "noMemory"
      }
    }
  }

  /// After so many pairs more there may be no room for others.
  static let step = 16_384

  /// Looks at all rows. O(n), n combinations of rows that the query and its subqueries look at.
  ///
  /// - Throws: ``Refusal``, and `DatabaseError`.
  init(
    _ plan: IncrementalPlan, records: Int, arguments: QueryArguments, meter: ResultMeter,
    in db: Database
  ) throws {
    numbers = GroupIdentifiers(collations: plan.collations)
    members = plan.members.map(GroupMembers.init)
    let positions = plan.contributions.last?.positions.upperBound ?? 0
    owners = Array(repeating: RowOwners(), count: positions)
    pairs = Array(repeating: nil, count: positions)
    rowKeys = Array(repeating: nil, count: positions)
    for position in plan.keptRows.flatMap(\.positions) { pairs[position] = PairedNumbers() }
    for position in plan.keptRows.compactMap(\.positions.last) + [plan.members].compactMap(\.self)
    where plan.key(at: position) != nil { rowKeys[position] = RowKeys() }
    let kind = plan.owner
    var nextLook = Self.step
    for contribution in plan.contributions {
      let statement = try db.cachedStatement(sql: contribution.sql)
      statement.bind(arguments)
      defer { sqlite3_reset(statement.sqliteStatement) }
      while try statement.step(in: db) {
        _ = add(statement, of: contribution, ownedAs: kind)
        if hasLoss { throw Refusal.loss }
        let count = count
        if count > Self.few,
          count > Self.ownersPerRow * (records + rows)
        {
          throw Refusal.tooMany
        }
        if count >= nextLook {
          nextLook = count + Self.step
          account()
          guard meter.hasRoom(forAidOf: size, isCounted: true) else { throw Refusal.noMemory }
        }
      }
    }
    if members?.areTooFewGroups == true { throw Refusal.tooMany }
    for position in owners.indices {
      owners[position].trim()
      rowKeys[position]?.trim()
    }
    keys.trim()
    members?.trim()
    if plan.appearances != nil {
      guard let all = try Appearances(plan, arguments: arguments, meter: meter, in: db) else {
        throw Refusal.loss
      }
      appearances = all
    }
    limit = 2 * count + 1024
    account()
    guard meter.hasRoom(forAidOf: size, isCounted: true) else { throw Refusal.noMemory }
  }

  /// Bytes.
  var size: Int { charge.bytes }

  private func account() {
    charge.set(
      owners.reduce(0) { $0 + $1.size } + pairs.reduce(0) { $0 + ($1?.size ?? 0) } + keys.size
        + rowKeys.reduce(0) { $0 + ($1?.size ?? 0) } + numbers.size + (members?.size ?? 0)
        + (appearances?.size ?? 0))
  }

  /// Notes that a commit was brought in.
  mutating func noteCommit() {
    commits += 1
    // To add up what many pairs take needs some microseconds.
    if commits % 64 == 0 { account() }
  }

  /// How many pairs there are of a row and an owner.
  private var count: Int {
    owners.reduce(0) { $0 + $1.count } + pairs.reduce(0) { $0 + ($1?.count ?? 0) }
  }

  /// About how many rows have an owner.
  private var rows: Int {
    owners.reduce(0) { $0 + $1.rows } + pairs.reduce(0) { $0 + ($1?.count ?? 0) }
  }

  /// Whether too much has gathered that is no longer true, or something that leads nowhere.
  var isOutworn: Bool {
    let keys = rowKeys.reduce(keys.count) { max($0, $1?.count ?? 0) }
    return max(count, keys, numbers.count) > limit || hasLoss
  }

  /// The number of a group.
  mutating func owner(of group: [Value]) -> Int64 { numbers.number(of: group) }

  /// Notes by what a row WITHOUT ROWID is read again.
  mutating func note(_ key: [Value], of owner: Int64) { keys.insert(key, owner) }

  /// Takes the owners of a row, to be entered anew.
  mutating func take(_ rowID: Int64, at position: Int, _ plan: IncrementalPlan) -> [Int64] {
    let own = pairs[position]?.take(rowID) ?? owners[position].take(rowID)
    return own.flatMap { owners(of: $0, after: plan.link(at: position), plan) }
  }

  private func numbers(of row: Int64, at position: Int) -> [Int64] {
    pairs[position]?.seconds(of: row) ?? owners[position][row]
  }

  /// Lets go of rows that have left these groups.
  mutating func sweepMembers(of groups: some Sequence<Int64>) {
    guard let position = members?.position else { return }
    for group in groups {
      members?.sweep(group) { row in
        pairs[position]?.seconds(of: row).contains(group)
          ?? owners[position].contains(group, of: row)
      }
    }
  }

  // MARK: - Rows of owners

  /// The rows of a table that may belong to an owner, as its statement takes them.
  ///
  /// O(m log n), m rows of the owner among n.
  func list(of owner: Int64, _ kept: IncrementalPlan.KeptRows) -> Value {
    list(rows(of: owner, kept).sorted(), at: kept.positions.last)
  }

  /// The rows of a group, as its statement takes them; nil: it has none, or no index finds them.
  func listOfMembers(of group: Int64) -> Value? {
    members.flatMap { members in
      members.rows(of: group).map { list($0, at: members.position) }
    }
  }

  private func list(_ rows: [Int64], at position: Int?) -> Value {
    position.flatMap { rowKeys[$0] }?.json(of: rows) ?? .json(rows)
  }

  private func rows(of owner: Int64, _ kept: IncrementalPlan.KeptRows) -> [Int64] {
    var numbers = [owner]
    for position in kept.positions {
      let found = numbers.flatMap { pairs[position]?.firsts(of: $0) ?? [] }
      // What several values lead to is there several times.
      numbers = numbers.count < 2 ? found : Array(Set(found))
    }
    return numbers
  }

  /// To read so many rows by their rowids is as dear as to read all of them one after the other.
  private static let worthwhile = 16
  private static let fewKept = 1024

  /// Whether so many rows are to be read of a table for some owners that it costs no less to read all.
  func haveManyRows(_ owners: [Int64], _ plan: IncrementalPlan) -> Bool {
    plan.keptRows.contains { kept in
      let all = kept.positions.last.flatMap { pairs[$0]?.count } ?? 0
      var rest = max(Self.fewKept, all / Self.worthwhile)
      for owner in owners {
        rest -= rows(of: owner, kept).count
        if rest < 0 { return true }
      }
      return false
    }
  }

  // MARK: - Entering

  /// Enters a row of one of a plan's contributions, and returns its owners.
  mutating func enter(
    _ statement: Statement, of number: Int, _ plan: IncrementalPlan
  ) -> [Int64] {
    let contribution = plan.contributions[number]
    let owner = add(statement, of: contribution, ownedAs: plan.owner)
    return owners(of: owner, after: contribution.link, plan)
  }

  /// The owner of a number itself, or where that is the number of a value, all that have it, or have one
  /// of a row that has it.
  private func owners(
    of number: Int64, after link: ContributionStatement.Link?, _ plan: IncrementalPlan
  ) -> [Int64] {
    guard let link else { return [number] }
    let next = plan.link(at: link.position)
    let found = numbers(of: number, at: link.position)
    return next == nil ? found : found.flatMap { owners(of: $0, after: next, plan) }
  }

  /// Enters a row of one of a plan's contributions, and returns its owner, or the number of the value
  /// that it shares with owners.
  private mutating func add(
    _ statement: Statement, of contribution: ContributionStatement,
    ownedAs kind: IncrementalPlan.Owner
  ) -> Int64 {
    let owner: Int64
    let first = contribution.ownerColumn
    switch kind {
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
      let group = columns.indices.map { statement.value(at: Int32(first + $0)) }
      hasLoss = hasLoss || group.contains(where: \.equalsAnInteger)
      owner = numbers.number(of: group)
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
      let row = statement.rowNumber(at: column, key)
      if let key, rowKeys[position] != nil {
        note(statement.values(at: column, count: key.columns.count), of: row, at: position)
      }
      add(owner, of: row, at: position)
    }
    return owner
  }

  private mutating func note(_ key: [Value], of row: Int64, at position: Int) {
    hasLoss = hasLoss || !RowKeys.haveJSON(key)
    rowKeys[position]?.insert(key, row)
  }

  private mutating func add(_ owner: Int64, of rowID: Int64, at position: Int) {
    let isNew = pairs[position]?.insert(rowID, owner) ?? owners[position].insert(owner, of: rowID)
    if isNew, members?.position == position {
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
  /// The key of the rows that are kept at a position; nil: they have rowids.
  fileprivate func key(at position: Int) -> TableKey? {
    contributions.first { $0.positions.contains(position) }
      .flatMap { $0.keys[position - $0.positions.lowerBound] }
  }

  /// What the numbers stand for that are kept at a position; nil: owners.
  fileprivate func link(at position: Int) -> ContributionStatement.Link? {
    contributions.first { $0.positions.contains(position) }?.link
  }
}
