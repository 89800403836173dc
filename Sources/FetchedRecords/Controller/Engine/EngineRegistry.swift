import ChangeCapture
import GRDB
import Locks

/// The engines by their writers: controllers of one writer share one engine, and the last of them
/// lets it go.
enum EngineRegistry {
  private struct Entry {
    weak var engine: Refresher?
  }

  private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// - Throws: `DatabaseError` where the database cannot be opened a second time.
  static func engine(of writer: any DatabaseWriter) throws -> Refresher {
    let id = ObjectIdentifier(writer)
    // Not made under the lock: an engine asks the writer, who may be busy for a while.
    if let engine = entries.withLock({ $0[id]?.engine }) { return engine }
    let made = try Refresher.following(writer)
    return entries.withLock { entries in
      if let engine = entries[id]?.engine { return engine }
      entries = entries.filter { $0.value.engine != nil }
      entries[id] = Entry(engine: made)
      return made
    }
  }
}

extension Refresher {
  /// An engine for the controllers of a writer.
  ///
  /// A database file in write-ahead mode is read through connections of the engine's own, which
  /// disturb no writer and learn from the log which rows changed, whoever changed them; every other
  /// database through the writer.
  fileprivate static func following(_ writer: any DatabaseWriter) throws -> Refresher {
    let file = try DatabaseFile(of: writer)
    guard file.isWriteAheadLog else { return following(writer, path: file.path) }
    let configuration = writer.configuration
    let access = OwnConnection(path: file.path, isBesideWriter: true) { path, statementGuard in
      try ReaderConnection.open(path: path, like: configuration, guardedBy: statementGuard)
    }
    // Whoever makes a controller learns at once where the file cannot be read.
    try access.sync { try access.read(isLocked: false) { _ in } }
    let engine = Refresher(access, limits: .ofControllers, makeFinder: { ChangeReader() })
    engine.observer = WriteObserver(writer, engine: engine)
    return engine
  }

  private static func following(_ writer: any DatabaseWriter, path: String) -> Refresher {
    let access = WriterAccess(writer, path: path)
    let journal = TransactionJournal(isFile: !path.isEmpty)
    var limits = RefresherLimits.ofControllers
    limits.readers = 0
    let engine = Refresher(access, limits: limits, makeFinder: { journal })
    engine.observer = WriteObserver(writer, engine: engine, journal: (journal, access))
    return engine
  }
}

extension RefresherLimits {
  /// For a program's own queries: nobody else's wait for them.
  fileprivate static let ofControllers: RefresherLimits = {
    var limits = RefresherLimits.none
    // Long queries share one with each other, and one is left for those that are shorter.
    limits.readers = 2
    return limits
  }()
}
