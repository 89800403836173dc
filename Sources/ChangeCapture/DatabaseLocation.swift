/// Where a database really is: the directory that its files share, and its name in there.
///
/// SQLite follows symbolic links before it names `-wal` and `-journal`, so the directory to watch
/// is that of the file itself, not that of a link to it.
struct DatabaseLocation: Equatable {
  var directory: String
  var fileName: String

  /// Follows the links in a path.
  ///
  /// A file that is not there is looked for in the directory that its path names; nil: not even
  /// the directory is there.
  init?(resolving path: String) {
    if let real = OperatingSystem.realPath(path) {
      self.init(path: real)
    } else {
      self.init(path: path)
      guard let real = OperatingSystem.realPath(directory) else { return nil }
      directory = real
    }
  }

  private init(path: String) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    guard let slash else {
      (directory, fileName) = (".", path)
      return
    }
    directory = slash == path.startIndex ? "/" : String(path[..<slash])
    fileName = String(path[path.utf8.index(after: slash)...])
  }

  var path: String { directory == "/" ? "/" + fileName : directory + "/" + fileName }

  /// What a notification says about this database; empty: it is about something else.
  ///
  /// Of `-shm` only that it is another file now, or may be cut off: readers write there as well, and
  /// a commit's store into it is made through memory, which inotify does not see. A rollback journal
  /// comes and goes with each transaction, and is looked for by its name.
  func touched(by notification: DirectoryNotification) -> TouchedFiles {
    if notification.kinds.contains(.overflow) { return .unknown }
    if notification.kinds.contains(.lost) { return .directory }
    guard notification.name.hasPrefix(fileName) else { return [] }
    let content: TouchedFiles
    switch notification.name.utf8.dropFirst(fileName.utf8.count) {
    case let rest where rest.isEmpty: content = .database
    case let rest where rest.elementsEqual("-wal".utf8): content = .log
    case let rest where rest.elementsEqual("-journal".utf8): return .journal
    case let rest where rest.elementsEqual("-shm".utf8): return .entry
    default: return []
    }
    return notification.kinds.contains(.entry) ? .entry : content
  }
}

/// What a batch of notifications was about.
struct TouchedFiles: OptionSet {
  let rawValue: UInt8
  /// The database file was written.
  static let database = TouchedFiles(rawValue: 1)
  /// The name of one of the files that are kept open came or went.
  static let entry = TouchedFiles(rawValue: 2)
  /// The write-ahead log was written.
  static let log = TouchedFiles(rawValue: 4)
  /// The rollback journal was written, made or deleted.
  static let journal = TouchedFiles(rawValue: 8)
  /// The directory is gone or elsewhere.
  static let directory = TouchedFiles(rawValue: 16)
  /// Notifications were lost.
  static let overflow = TouchedFiles(rawValue: 32)
  /// Anything may have happened.
  static let unknown: TouchedFiles = [.overflow, .database, .entry, .log, .journal]
}
