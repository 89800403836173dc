import CSQLiteSettings
package import GRDB

extension Configuration {
  /// Of a connection that can change nothing in the database.
  ///
  /// Read-only three times over (how the file is opened, `query_only`, defensive mode), and functions
  /// of the schema that are not innocuous do not run; nor may SQL name a tokenizer by its address:
  /// https://www.sqlite.org/security.html
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
      try db.execute(sql: "PRAGMA query_only = 1; PRAGMA trusted_schema = 0")
      if let connection = db.sqliteConnection {
        _ = sqlite_set_defensive(UnsafeMutableRawPointer(connection), 1)
        _ = sqlite_forbid_tokenizer_addresses(UnsafeMutableRawPointer(connection))
      }
      try prepare(db)
    }
    return configuration
  }
}
