import ChangeCapture
import Dispatch
import GRDB
import OrderedResults

/// The cache of one controller within one transaction of its engine.
struct ResultsCache {
  let file: CacheFile
  /// The state of the database that the transaction sees.
  let stamp: DatabaseStamp

  /// Files are written one after the other, and nobody waits for them.
  static let queue = DispatchQueue(label: "FetchedRecordsController.cache", qos: .utility)

  /// The cached result of a request, or else what `fetch` gives, which is then cached.
  ///
  /// `wasFound` is called if the cache still held. Trouble with the cache is no error.
  func results(
    of analyzed: AnalyzedRequest, in db: Database, wasFound: () -> Void,
    fetch: () throws -> Results
  ) throws -> Results {
    guard let key = try? CacheKey(analyzed.query, analyzed.arguments, in: db) else {
      return try fetch()
    }
    let layout = analyzed.query.layout
    if let known = file.read(key: key, layout: layout, isWanted: { $0 == stamp.bytes }) {
      wasFound()
      return known.results
    }
    let results = try fetch()
    write(results, key)
    return results
  }

  /// Caches a result that was brought up to date.
  func save(_ results: Results, of analyzed: AnalyzedRequest, in db: Database) {
    if let key = try? CacheKey(analyzed.query, analyzed.arguments, in: db) { write(results, key) }
  }

  private func write(_ results: Results, _ key: CacheKey) {
    Self.queue.async { [file, stamp] in try? file.write(results, key: key, stamp: stamp.bytes) }
  }
}
