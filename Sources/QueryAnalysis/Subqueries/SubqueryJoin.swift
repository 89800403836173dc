/// The rows that a subquery reads, joined to the rows in whose expression it stands.
///
/// Every pair of rows of which the first may decide what the subquery is for the second, and perhaps
/// more: a changed row leads to owners by it, and SQL says what became of them.
struct SubqueryJoin {
  /// All tables around the subquery, then its own.
  let select: ResolvedSelect
  /// The subquery's own tables.
  let tables: [BaseTable]
  /// For each table of ``select`` the number by which all SELECTs of the query know it.
  let numbers: [Int]
  /// Why a changed row of its own tables leads nowhere, if none does.
  let refusal: String?
  /// Why it may be that SQLite would not search by key.
  let doubt: String?

  /// Its own tables' numbers.
  var ownNumbers: ArraySlice<Int> { numbers.suffix(tables.count) }
}
