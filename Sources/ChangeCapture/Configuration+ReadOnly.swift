import CSQLiteSettings
package import GRDB

extension Configuration {
  /// Of a connection that can change nothing in the database.
  ///
  /// Read-only three times over (how the file is opened, `query_only`, defensive mode), and functions
  /// of the schema that are not innocuous do not run, where SQLite counts JSON among those that are; nor
  /// may SQL name a tokenizer by its address: https://www.sqlite.org/security.html
  ///
  /// - Parameters:
  ///   - label: names the connection for whoever debugs.
  ///   - prepare: what else the connection needs.
  /// - Returns: the configuration.
  package static func readOnly(
    label: String, prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.label = label
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA query_only = 1")
      if !Configuration.jsonNeedsTrust { try db.execute(sql: "PRAGMA trusted_schema = 0") }
      if let connection = db.sqliteConnection {
        _ = sqlite_set_defensive(UnsafeMutableRawPointer(connection), 1)
        _ = sqlite_forbid_tokenizer_addresses(UnsafeMutableRawPointer(connection))
      }
      try prepare(db)
    }
    return configuration
  }

  /// Whether this SQLite takes its JSON functions for unsafe, as 3.40 does: it reads nothing of a database
  /// that has one in a generated column or an index, unless the schema is trusted.
  ///
  /// Trust lets a schema call nothing else there but `load_extension`, which fails on each connection that
  /// was not told to let it, and lets a view read virtual tables, full-text ones among them.
  private static let jsonNeedsTrust: Bool = {
    let isRefused = try? DatabaseQueue().writeWithoutTransaction { db in
      try db.execute(sql: "CREATE VIEW v AS SELECT json_valid('[]')")
      let isThere = (try? Row.fetchOne(db, sql: "SELECT * FROM v")) != nil
      try db.execute(sql: "PRAGMA trusted_schema = 0")
      let isRead = (try? Row.fetchOne(db, sql: "SELECT * FROM v")) != nil
      return isThere && !isRead
    }
    return isRefused ?? false
  }()
}
