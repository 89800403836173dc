import Foundation
import GRDB
import GRDBSQLite

/// SQLite's preupdate hook: https://www.sqlite.org/c3ref/preupdate_blobwrite.html
///
/// It is there if the library was built with SQLITE_ENABLE_PREUPDATE_HOOK, which its header does not
/// tell; so it is looked up at run time.
enum PreupdateHook {
  private typealias Callback =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, Int64, Int64
    ) -> Void
  private typealias Install =
    @convention(c) (OpaquePointer?, Callback?, UnsafeMutableRawPointer?) ->
    UnsafeMutableRawPointer?

  private static let install: Install? = function("sqlite3_preupdate_hook")

  private static func function<F>(_ name: String) -> F? {
    guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, name) else { return nil }
    // The type is that of SQLite's documentation.
    return unsafeBitCast(symbol, to: F.self)
  }

  /// Calls the journal for each row that changes; false: the library has no such hook.
  ///
  /// The journal must live until ``remove(from:)``.
  static func install(on connection: SQLiteConnection?, for journal: TransactionJournal) -> Bool {
    guard let install, let connection else { return false }
    let context = Unmanaged.passUnretained(journal).toOpaque()
    _ = install(
      connection,
      { context, _, operation, schema, table, old, new in
        guard let context, let table, let schema, strcmp(schema, "main") == 0 else { return }
        let journal = Unmanaged<TransactionJournal>.fromOpaque(context).takeUnretainedValue()
        journal.rowWillChange(
          String(cString: table), operation == SQLITE_INSERT ? nil : old,
          operation == SQLITE_DELETE ? nil : new)
      }, context)
    return true
  }

  static func remove(from connection: SQLiteConnection?) {
    if let install, let connection { _ = install(connection, nil, nil) }
  }
}
