package import GRDB
import OrderedResults

/// What of a schema says what the words of a query mean: its tables, views and indexes, and what ANALYZE found in
/// them.
///
/// Triggers are left out, which nothing reads.
package struct SchemaObjects: Sendable {
  /// A row of the schema table, or of those of ANALYZE.
  struct Object: Hashable, Sendable {
    let name: String
    /// That it belongs to.
    let table: String
    let definition: String
    /// The page where its b-tree begins, which VACUUM may move; 0: it has none; −1: it is of ANALYZE.
    let root: Int64

    /// Whether it is a view or a virtual table, which may read what its definition names.
    var readsOthers: Bool { root == 0 }
  }

  let objects: [Object]

  /// Reads those of `main`. O(n), n objects and rows of `sqlite_stat1` and `sqlite_stat4`.
  ///
  /// https://www.sqlite.org/schematab.html, https://www.sqlite.org/fileformat2.html#stat1tab
  ///
  /// - Throws: `DatabaseError`.
  package init(in db: Database) throws {
    var objects = try Self.rows(
      "SELECT name, tbl_name, sql, rootpage FROM sqlite_schema WHERE type <> 'trigger'", in: db)
    // Anybody may write what they like into these.
    let statistics = [
      "sqlite_stat1": """
      SELECT CAST(tbl AS TEXT), CAST(tbl AS TEXT), coalesce(idx, '') || ' ' || stat, -1
      FROM sqlite_stat1
      """,
      "sqlite_stat4": """
      SELECT CAST(tbl AS TEXT), CAST(tbl AS TEXT),
        idx || ' ' || neq || ' ' || nlt || ' ' || ndlt || ' ' || hex(sample), -1
      FROM sqlite_stat4
      """,
    ]
    for (table, sql) in statistics where objects.contains(where: { $0.name == table }) {
      objects += try Self.rows(sql, in: db)
    }
    self.objects = objects
  }

  private static func rows(_ sql: String, in db: Database) throws -> [Object] {
    try Row.fetchAll(db, sql: sql).map { row in
      Object(
        name: row[0] ?? "", table: row[1] ?? "", definition: row[2] ?? "", root: row[3] ?? 0)
    }
  }
}

/// For which queries another schema may mean something else.
///
/// It is decided by words, never too narrowly: a query is concerned where what it says, or what is said by a
/// view or virtual table that it names, and so on, has all words of the name of something that changed, or
/// of the table which that belongs to.
package struct SchemaChange {
  /// Those of both schemas, by each word of the names that lead to them.
  private var objects: [String: [SchemaObjects.Object]] = [:]
  private let changed: Set<SchemaObjects.Object>
  /// Whether nothing is known of the schema before, or nothing can be told by words.
  private let concernsAll: Bool

  /// O(n), n objects of both.
  ///
  /// - Parameters:
  ///   - old: what queries were analysed under; nil: nobody knows.
  ///   - new: what they will be.
  package init(from old: SchemaObjects?, to new: SchemaObjects) {
    let (before, after) = (Set(old?.objects ?? []), Set(new.objects))
    changed = before.symmetricDifference(after)
    let all = before.union(after)
    let nameless = all.filter { $0.names.contains { $0.words.isEmpty } }
    concernsAll =
      old == nil || nameless.contains { $0.readsOthers } || !nameless.isDisjoint(with: changed)
    if concernsAll { return }
    for object in all {
      for word in Set(object.names.flatMap(\.words)) { objects[word, default: []].append(object) }
    }
  }

  /// Whether a query has to be analysed anew, and what it shows to be read anew.
  ///
  /// O(w), w words of it and of all that it reads.
  package func concerns(_ query: Query) -> Bool {
    // Nobody knows what such a query reads.
    if query.dependencies.isEmpty { return true }
    // The statement that runs may have what a view says in the place of its name.
    return concerns(
      query.definition.texts + [query.sql]
        + query.dependencies.flatMap { [$0.table] + $0.storage })
  }

  /// Whether a definition that did not fit the schema may fit it now.
  package func concerns(_ definition: QueryDefinition) -> Bool { concerns(definition.texts) }

  private func concerns(_ texts: [String]) -> Bool {
    if concernsAll { return true }
    var words = Set(texts.flatMap(\.words))
    var unread = Array(words)
    var seen: Set<SchemaObjects.Object> = []
    while let word = unread.popLast() {
      // These may tell of all that the schema has.
      if word.hasPrefix("sqlite_") || word.hasPrefix("pragma_") { return true }
      for object in objects[word] ?? [] where object.isNamed(by: words) {
        guard seen.insert(object).inserted else { continue }
        if changed.contains(object) { return true }
        guard object.readsOthers else { continue }
        unread += object.definition.words.filter { words.insert($0).inserted }
      }
    }
    return false
  }
}

extension QueryDefinition {
  /// All SQL of it.
  fileprivate var texts: [String] {
    let own: [String?] =
      switch form {
      case .sql(let sql): [sql]
      case .declared(let declaration):
        [declaration.table, declaration.predicate, declaration.having]
          + (declaration.fields ?? []) + declaration.groupBy + declaration.order
      }
    return own.compactMap(\.self) + [section, sectionIndexTitle].compactMap(\.self)
      + alongside.map(\.sql) + orders.flatMap(\.terms)
  }
}

extension SchemaObjects.Object {
  /// The names that lead to it.
  fileprivate var names: [String] { [name, table] }

  fileprivate func isNamed(by words: Set<String>) -> Bool {
    names.contains { words.isSuperset(of: $0.words) }
  }
}

extension String {
  /// What stands between characters that no identifier has unless it is quoted, folded: however a name is
  /// quoted, its words are there, and in this order.
  fileprivate var words: [String] {
    utf8.map(\.foldedASCII).split { !$0.isOfIdentifier }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension UInt8 {
  /// https://www.sqlite.org/lang_keywords.html: what an identifier has without quotation marks.
  fileprivate var isOfIdentifier: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
