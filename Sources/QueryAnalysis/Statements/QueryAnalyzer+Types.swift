import GRDB
import GRDBSQLite
import OrderedResults

extension QueryAnalyzer {
  /// The types of the visible columns, one for each; empty where none has any.
  ///
  /// What is wrong with those that are declared is noted.
  mutating func columnTypes(of text: StatementText, _ layout: RecordLayout) -> [ColumnType?] {
    let types = definition.columnTypes
    var known: [ColumnType?] = layout.columns.indices.map { index in
      types.areInferred ? text.declaredType(ofColumn: index).flatMap(ColumnType.init) : nil
    }
    for (name, type) in types.declared.sorted(by: { $0.key < $1.key }) {
      guard let index = layout.columns.firstIndex(where: { $0.isSameIdentifier(as: name) }) else {
        problems.append(
          QueryProblem(
            part: .columnType(name), message: "\(name) is not a column of the result",
            mend: "name a column that the query shows", unknownWord: name,
            knownWords: layout.columns))
        continue
      }
      known[index] = type
      if case .blob = type, layout.key == nil { problems.append(.blobWithoutKey(name)) }
    }
    return known.contains { $0 != nil } ? known : []
  }
}

extension QueryProblem {
  fileprivate static func blobWithoutKey(_ name: String) -> QueryProblem {
    QueryProblem(
      part: .columnType(name),
      message: "\(name) is shown by a URL, and the records have no key that could stand in it",
      mend: "say under `key` which columns identify a record, or leave the type out")
  }
}

extension StatementText {
  /// What the table declares of the column that a result column shows, through views and subqueries;
  /// nil where it shows an expression. Of a UNION it is the column of its first SELECT.
  ///
  /// https://www.sqlite.org/c3ref/column_decltype.html
  fileprivate func declaredType(ofColumn index: Int) -> String? {
    sqlite3_column_decltype(statement.sqliteStatement, Int32(index)).map { String(cString: $0) }
  }
}
