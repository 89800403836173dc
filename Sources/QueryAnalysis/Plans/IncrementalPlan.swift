package import OrderedResults

/// How the result of a query is kept up to date without running it again.
///
/// Every record has an *owner*: a row of one table, or a group. What changed leads to owners, and
/// their records are read again, all of them and no others.
package struct IncrementalPlan: Sendable, Equatable {
  /// What the records are made of.
  package enum Owner: Sendable, Equatable {
    /// A row of the first lead's table; the position of its rowid among the columns.
    case row(column: Int)
    /// The same of a table WITHOUT ROWID; the positions of its key among the columns.
    case keyedRow(columns: [Int], TableKey)
    /// A row of one of the SELECTs that UNION ALL joins; the positions of the SELECT's number and of the
    /// rowid, or the primary key, among the columns. For each SELECT the key, if its rows have no rowid.
    case rowOfArm(columns: [Int], arms: [TableKey?])
    /// The values of a record of UNION, which are its first columns, so many: the rows of its SELECTs that
    /// have them are counted.
    case values(columns: Int, arms: [TableKey?])
    /// A group of rows, or a partition, each of whose rows is a record; the positions of what it is
    /// grouped by among the columns.
    case group(columns: [Int])
  }

  package let owner: Owner
  /// How the values of a group's columns are compared; none: under BINARY.
  package var collations: [Collation] = []
  /// Whether a record is made of several rows.
  var isGrouped: Bool
  /// The order of the result, which is total.
  package let order: RecordOrder
  /// The records of some owners: rowids, or the values of one group.
  package let records: KeyedStatement
  /// How changed rows of each table lead to owners. An owner's own table comes first.
  package internal(set) var leads: [Lead]
  /// What tells for each row to which owners it contributes; none: all leads are owners' own.
  package let contributions: [ContributionStatement]
  /// LIMIT and OFFSET, and the query without them.
  package internal(set) var window: WindowStatement?
  /// How its pages are read by themselves, if they can be.
  package internal(set) var pages: PagedStatement?
  /// A condition by which a changed row of the owners' own table finds the arguments whose results
  /// it concerns, if there is one.
  package var equality: ArgumentEquality?
  /// Where it searches in FTS5 tables, whether by words that are only begun (`hou*`).
  package var beginnings: SearchBeginnings?
  /// The b-tree whose entries are in the order of the records, one for each, if there is one.
  package var outline: OutlinedOrder?

  /// Whether the records depend on all that come before them, so that those of an owner are never read alone:
  /// where ``window`` is not short, the query runs again.
  package var isPrefix = false

  /// Whether each owner, which is a row, has one record at most.
  var hasOneRecordAnOwner = false

  /// Whether all rows are one partition: to read it again takes as long as the query, and no more.
  package var isOnePartition = false

  /// Whether windows have a key at the end of ORDER BY that was not written: what ran as it was written, might
  /// show equal rows in another order.
  var completesWindows = false

  /// Columns that run through all records: what is read of a record by itself has other values there.
  package var running: [RunningColumn] = []

  /// Of groups that no index finds: the number of the rowids that are read for them, among those of all
  /// ``contributions``. ``records`` takes these first, as JSON; of a table WITHOUT ROWID, the keys.
  package var members: Int?
  /// Tables whose rows no index finds for an owner: ``records`` takes these as JSON.
  package var keptRows: [KeptRows] = []
  /// What stands as parameters in the statements by which rows are read, and not in those by which all are.
  package var values: [CommonValue] = []

  /// How groups follow what their rows come to, where these are many; nil: a group is read again.
  package internal(set) var tally: GroupTally?
  /// How records follow the rows that refer to their own, where these are many; nil: they are read again.
  package internal(set) var owned: OwnedTallies?

  /// Of UNION: returns for each row of its SELECTs the SELECT's number, the rowid or the primary key with
  /// NULL up to the longest, and the values that it has.
  package var appearances: String?

  /// The table whose rows are the records, or the first of those that they are made of.
  package var table: String { leads[0].table }

  /// The tables of which it must be known which rows changed.
  package var followedTables: [String] {
    leads.filter { $0.isFollowed && !$0.isOfValue }.flatMap(\.followedTables)
  }

  /// The rows of which it has to be known what those of each group come to, or those that refer to a row; nil: none.
  package var tallied: [QueryDefinition]? { tally?.rows ?? owned?.rows }

  /// Whether equal values of the first column of some of these rows count once (``GroupTally``).
  package func countsOnce(_ rows: QueryDefinition) -> Bool {
    ([tally].compactMap(\.self) + (owned?.parts.map(\.tally) ?? []))
      .contains { $0.countsOnce(rows) }
  }

  /// The way from a changed row of a table to owners.
  package struct Lead: Sendable, Equatable {
    package let table: String
    /// Where changed rows of the table are seen, if not in itself.
    package let storage: SearchStorage?
    /// Whether the owner has the rowid of a row of this table: it is the row itself, or one that is
    /// joined by nothing but the rowids of both.
    package let isOwner: Bool
    /// Of UNION, the number of the SELECT whose row it is.
    package var arm: Int?
    /// What has to be searched for each changed row.
    package let searches: [Search]
    /// The number of this table's rowid among those of all ``contributions``; nil: it is not there.
    package let position: Int?
    /// Why a change of this table means a refetch, for a person.
    let refusal: String?
    /// What is kept in memory for this table, for want of an index, for a person.
    var remedy: String?
    /// Whether one of ``values`` may be another where the table has changed. It leads to no record then.
    package var isOfValue = false

    package var isFollowed: Bool { refusal == nil }

    /// The tables of which it must be known which rows changed.
    package var followedTables: [String] { storage?.followed ?? [table] }

    /// The tables whose changed rows have the rowids of those of this table.
    package var rowTables: [String] { storage?.rows ?? [table] }
  }

  /// How the rows of a table that may belong to an owner are found in memory.
  package struct KeptRows: Sendable, Equatable {
    /// The parameter that takes their rowids, or their keys, as JSON, without its colon.
    package let parameter: String
    /// The numbers among those of all ``contributions`` that lead there, from the owner: to values that it
    /// has, and last from a value to the rows that have it.
    package let positions: [Int]
  }

  /// What one of ``contributions`` has for the rows of a table.
  package struct Search: Sendable, Equatable {
    /// The number of the statement.
    package let contribution: Int
    /// The same for some rowids.
    package let statement: KeyedStatement
  }
}

/// Which rows contribute to which owners.
package struct ContributionStatement: Sendable, Equatable {
  /// Returns rowids, then the owner's values.
  package let sql: String
  /// The numbers of these rowids among those of all statements.
  package let positions: Range<Int>
  /// For each of them the key whose values stand in its place, of a table WITHOUT ROWID.
  package let keys: [TableKey?]
  /// Whether a column behind these is not NULL where the owner is not found again by its values.
  package let tellsLoss: Bool
  /// Where it returns a value in the place of the owner's: those with the same value are the owners.
  package var link: Link?

  /// The first column behind the rows', which is of the owner.
  package var ownerColumn: Int { keys.reduce(0) { $0 + ($1?.columns.count ?? 1) } }

  /// What owners are found by that have a value.
  package struct Link: Sendable, Equatable {
    /// The number of the value among those of all statements, as if it were a rowid.
    package let position: Int
    /// Which values are the same.
    package let value: TableKey

    func shifted(by count: Int) -> Link { Link(position: position + count, value: value) }
  }
}

/// A statement with room for a list of keys, or for one key of several values.
package struct KeyedStatement: Sendable, Equatable {
  package let beforeKeys: String
  let afterKeys: String
  /// Whether it asks for one key at a time.
  package let takesOne: Bool
  /// Written once for each of ``batchSizes``.
  private let batches: [Int: String]

  /// How many keys one statement asks for: few statements to prepare, and none much too large.
  package static let batchSizes = [1, 8, 64]

  init(beforeKeys: String, afterKeys: String, takesOne: Bool = false) {
    self.beforeKeys = beforeKeys
    self.afterKeys = afterKeys
    self.takesOne = takesOne
    let sizes = takesOne ? [] : Self.batchSizes
    batches = Dictionary(
      uniqueKeysWithValues: sizes.map {
        ($0, Self.sql(forKeys: $0, beforeKeys, afterKeys))
      })
  }

  /// The statement for that many keys, which are its only parameters without a name.
  package func sql(forKeys count: Int) -> String {
    takesOne ? beforeKeys : batches[count] ?? Self.sql(forKeys: count, beforeKeys, afterKeys)
  }

  /// Only a literal list is pushed down to a search by key.
  private static func sql(
    forKeys count: Int, _ beforeKeys: String, _ afterKeys: String
  ) -> String {
    beforeKeys + "(" + repeatElement("?", count: count).joined(separator: ", ") + ")" + afterKeys
  }
}

/// The whole order of a query that shows a window of it.
package struct WindowStatement: Sendable, Equatable {
  /// A window that ends within so many records is read again where an index has its order; the
  /// same is a few searches by key, and no whole order has to be kept.
  package static let shortLimit = 1000

  /// The query as it is, where an index has its order and every row is a record, or each that is searched for
  /// there; then it costs no more rows than it shows and skips.
  package let short: String?
  /// The query without LIMIT and OFFSET.
  package let sql: String
  /// Returns the limit and the offset.
  package let bounds: String
  /// The terms of its order, by the numbers of its columns; empty: nobody asks for them.
  var order: [String] = []
}
