import GRDB
import Synchronization

/// The engines by their writers: controllers of one writer share one engine, and the last of them
/// lets it go.
enum EngineRegistry {
  private struct Entry {
    weak var engine: RecordsEngine?
  }

  private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// - Throws: `DatabaseError` where the database cannot be opened a second time.
  static func engine(of writer: any DatabaseWriter) throws -> RecordsEngine {
    let id = ObjectIdentifier(writer)
    // Not made under the lock: an engine asks the writer, who may be busy for a while.
    if let engine = entries.withLock({ $0[id]?.engine }) { return engine }
    let made = try RecordsEngine(writer)
    return entries.withLock { entries in
      if let engine = entries[id]?.engine { return engine }
      entries = entries.filter { $0.value.engine != nil }
      entries[id] = Entry(engine: made)
      return made
    }
  }
}
