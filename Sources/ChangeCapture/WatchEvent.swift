/// What a ``DatabaseWatcher`` has to say to its owner.
package enum WatchEvent: Sendable, Equatable {
  /// One or more transactions were committed.
  case committed
  /// A lock has kept the database from being read for a second or more, or the hot journal of a
  /// writer that was killed. Told once for each; whatever is committed under it is told when it is
  /// over.
  case locked
  /// Other files stand at the path, or they were written by other means than SQLite's: open
  /// connections show the old state, so they must be reopened.
  case replaced
  /// No file stands at the path. Open connections still show the old one.
  case removed
  /// A file stands at the path that cannot be read as a database now.
  case unreadable(DatabaseAccessError)
  /// After ``removed`` or ``unreadable(_:)``: the database can be read. Connections must be reopened.
  case restored
}
