import Dispatch
import GRDB
import Hashing
import Locks
import OrderedResults
import QueryAnalysis

// Results that outlive the process, of queries that ask for it.
//
// What is kept is the last state that clients were told of, under its version. The next life fetches
// anew, compares, and tells clients of that version what changed meanwhile. It gives its own
// versions: those of a life that was killed may have gone on after what it kept last.
extension Refresher {
  /// What an earlier life kept of a query, if it was the same query under the same schema.
  func cachedSnapshot(
    of query: Query, _ arguments: QueryArguments, in db: Database
  ) -> ResultsSnapshot? {
    guard query.definition.isCached, let key = try? CacheKey(query, arguments, in: db),
      let (stamp, results) = cacheFile(query.definition.name, arguments).read(
        key: key, layout: query.layout),
      let last = LastTold(stamp)
    else { return nil }
    return ResultsSnapshot(
      query: query, results: results, number: last.version.number, version: last.version,
      commit: last.commit, alongside: [], key: versionKey)
  }

  /// Keeps what a live result shows, if its query asks for it. O(n), n records.
  func cache(_ live: LiveResult) {
    let snapshot = live.snapshot
    guard snapshot.query.definition.isCached, live.failure == nil, live.opening == nil else {
      return
    }
    // To read the key is to wait for the lock, and others wait behind that: the exit of the server.
    if failure?.leavesLastResult == true { return }
    do {
      let key = try access.read(isLocked: false) { db in
        try CacheKey(snapshot.query, live.arguments, in: db)
      }
      if let key { write(snapshot, key, cacheFile(live.queryName, live.arguments)) }
    } catch {
      if let error = error as? DatabaseError { note(FetchFailure(error)) }
    }
  }

  private func write(_ snapshot: ResultsSnapshot, _ key: CacheKey, _ file: CacheFile) {
    let stamp = LastTold(version: snapshot.version, commit: snapshot.commit).stamp
    ResultsCache.queue.async { [self] in
      let result = Result { () throws(CacheFile.WriteError) in
        try file.write(snapshot.results, key: key, stamp: stamp)
      }
      let message = cacheTrouble.withLock { $0.note(result, of: file.url, at: .now) }
      if let message { log(message) }
      if case .success = result { file.deleteOldest() }
    }
  }

  private func cacheFile(_ name: String, _ arguments: QueryArguments) -> CacheFile {
    let values = arguments.keys.sorted().map { "\($0)=\(arguments[$0] ?? .null)" }
    // It names a file; the key in it says for certain.
    let digest = Array(values.joined(separator: "&").utf8).withUnsafeBytes {
      KeyedHash.stable.digest($0)
    }
    let variant = values.isEmpty ? nil : String(digest, radix: 36)
    return CacheFile(name: name, variant: variant, databasePath: path)
  }
}

/// Which state a live result was at, as a cache file has it: "state.number commit".
private struct LastTold {
  let version: ResultsVersion
  let commit: Int

  var stamp: [UInt8] { Array("\(version) \(commit)".utf8) }

  init(version: ResultsVersion, commit: Int) { (self.version, self.commit) = (version, commit) }

  /// nil: the text is of another form.
  init?(_ stamp: [UInt8]) {
    let text = String(decoding: stamp, as: UTF8.self)
    guard let match = text.wholeMatch(of: /([-_0-9A-Za-z]+)\.([0-9]+) ([0-9]+)/),
      let number = Int(match.2), let commit = Int(match.3), commit < Int.max
    else { return nil }
    self.init(version: ResultsVersion(state: String(match.1), number: number), commit: commit)
  }
}
