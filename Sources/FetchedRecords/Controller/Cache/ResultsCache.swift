import ChangeCapture
import Dispatch
import GRDB
import OrderedResults
import QueryAnalysis

/// The cache of one controller within one read transaction.
struct ResultsCache {
  let file: CacheFile
  /// The state of the database that the transaction sees.
  let stamp: DatabaseStamp

  /// Files are written one after the other, and nobody waits for them.
  static let queue = DispatchQueue(label: "FetchedRecordsController.cache", qos: .utility)

  /// - Returns: nil where no cache is wanted, or nothing names what the transaction sees.
  init?(_ name: String?, in transaction: ReadTransaction) {
    guard let name, let stamp = transaction.stamp else { return nil }
    file = CacheFile(name: name, databasePath: transaction.path)
    self.stamp = stamp
  }

  /// The cached result, if it is what the transaction would read. Trouble with the cache is no error.
  func results(of query: Query, _ arguments: QueryArguments, in db: Database) -> Results? {
    guard let key = try? CacheKey(query, arguments, in: db) else { return nil }
    return file.read(key: key, layout: query.layout, isWanted: { $0 == stamp.bytes })?.results
  }

  /// Caches a result that was read in the transaction.
  func save(_ results: Results, of query: Query, _ arguments: QueryArguments, in db: Database) {
    guard let key = try? CacheKey(query, arguments, in: db) else { return }
    // Whoever waits for the queue from now on waits for it.
    WorkerThread.errands.performAndWait { [file, stamp] in
      Self.queue.async { try? file.write(results, key: key, stamp: stamp.bytes) }
    }
  }
}
