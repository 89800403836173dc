import Locks
package import OrderedResults
package import QueryAnalysis

/// One state of a live result. Immutable: it may be handed anywhere, and a copy is a reference.
package final class ResultsSnapshot: Sendable {
  package let query: Query
  package let results: Results
  /// Grows by one with each change set.
  package let number: Int
  /// The state of the database as the refresher counts them.
  package let commit: Int
  package let alongside: [NamedValue]
  /// Where the records are in the whole result, where they are a window that is live by itself.
  let places: WindowPlaces?
  /// The records of the whole result then.
  package var total: Int? { places?.total }
  /// What its listener made of it.
  let presented: (any Sendable)?
  /// What names the state.
  package let digestKey: DigestKey
  // Written once, before `isNamed` is true; so nobody who reads it waits for others.
  private nonisolated(unsafe) var name: ResultsVersion?
  private let isNamed = Atomic(false)
  private let naming = Mutex(())

  /// - Parameters:
  ///   - query: what it is of.
  ///   - results: the records.
  ///   - number: of its version.
  ///   - version: what it was called before, where that is known and need not be found out.
  ///   - commit: which one it is of.
  ///   - alongside: the values beside the records.
  ///   - key: names its state.
  ///   - presented: what its listener made of it.
  package convenience init(
    query: Query, results: Results, number: Int, version: ResultsVersion? = nil, commit: Int,
    alongside: [NamedValue], key: DigestKey = .standard, presented: (any Sendable)? = nil
  ) {
    self.init(
      query: query, results: results, number: number, version: version, commit: commit,
      alongside: alongside, key: key, presented: presented, places: nil)
  }

  init(
    query: Query, results: Results, number: Int, version: ResultsVersion? = nil, commit: Int,
    alongside: [NamedValue], key: DigestKey, presented: (any Sendable)? = nil,
    places: WindowPlaces?
  ) {
    self.query = query
    self.results = results
    self.number = number
    self.commit = commit
    self.alongside = alongside
    self.presented = presented
    self.places = places
    digestKey = key
    name = version
    if version != nil { isNamed.store(true, ordering: .releasing) }
  }

  /// What clients know it by: found out when it is first asked for, in the time of
  /// ``Results/digest(by:)``.
  package var version: ResultsVersion {
    if isNamed.load(ordering: .acquiring), let name { return name }
    return naming.withLock { _ in
      if let name { return name }
      let found = ResultsVersion(state: state, number: number)
      name = found
      isNamed.store(true, ordering: .releasing)
      return found
    }
  }

  private var state: String {
    let key = digestKey
    var digest = results.digest(by: key)
    digest.append(shapeDigest)
    if !alongside.isEmpty {
      let values = alongside.flatMap { [.text($0.name), $0.value] }
      digest.append(Record(values).withBytes { key.digest(of: $0) })
    }
    return digest.text
  }

  /// What the state is beside its values: each text ends with a byte that UTF-8 does not have.
  private var shapeDigest: RunDigest {
    var count = 0
    forEachTextOfShape { count += $0.utf8.count + 1 }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { bytes in
      var end = 0
      forEachTextOfShape { text in
        end = bytes[end...].initialize(fromContentsOf: text.utf8)
        bytes.initializeElement(at: end, to: 0xFF)
        end += 1
      }
      return digestKey.digest(of: UnsafeRawBufferPointer(bytes))
    }
  }

  private func forEachTextOfShape(_ body: (String) -> Void) {
    let layout = results.layout
    body(query.definition.name)
    body(String(results.count))
    body(String(layout.columns.count))
    body(layout.section == nil ? "" : "sections")
    for name in layout.columns { body(name) }
    for name in layout.keyNames { body(name) }
    // What is shown in another way is another content; what is shown as it is stays what it was.
    for (name, type) in zip(layout.columns, layout.types) {
      if let type { body(name + " " + type.text) }
    }
  }

  /// The same records under another number, or those of a part of them.
  package func with(_ results: Results, number: Int) -> ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: results, number: number, commit: commit, alongside: alongside,
      key: digestKey, places: places)
  }

  /// The same as of no commit of this life: who may see what is known of this life alone.
  package var ofNoCommit: ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: results, number: number, version: version, commit: .min,
      alongside: alongside, key: digestKey, places: places)
  }

  /// The same as of a commit that changed nothing of it.
  package func notBefore(_ number: Int) -> ResultsSnapshot {
    if commit >= number { return self }
    return ResultsSnapshot(
      query: query, results: results, number: self.number, version: version, commit: number,
      alongside: alongside, key: digestKey, places: places)
  }
}
