import Testing

/// How a database's writers keep its old pages.
enum JournalMode: String, CaseIterable, CustomTestStringConvertible {
  case wal, delete, truncate, persist

  /// One of each kind: every scenario holds in both.
  static let kinds: [JournalMode] = [.wal, .delete]

  var testDescription: String { "journal_mode=\(rawValue)" }
}
