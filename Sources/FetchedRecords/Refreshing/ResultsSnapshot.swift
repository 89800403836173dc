package import OrderedResults
package import QueryAnalysis
import Locks

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
  private let name: Mutex<ResultsVersion?>

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
    name = Mutex(version)
  }

  /// What clients know it by: found out when it is first asked for, in the time of
  /// ``Results/digest(by:)``.
  package var version: ResultsVersion {
    name.withLock { name in
      if let name { return name }
      let version = ResultsVersion(state: state, number: number)
      name = version
      return version
    }
  }

  private var state: String {
    let key = digestKey
    var digest = results.digest(by: key)
    digest.append(shape.withUnsafeBytes { key.digest(of: $0) })
    if !alongside.isEmpty {
      let values = alongside.flatMap { [.text($0.name), $0.value] }
      digest.append(Record(values).withBytes { key.digest(of: $0) })
    }
    return digest.text
  }

  /// What the state is beside its values: each text ends with a byte that UTF-8 does not have.
  private var shape: [UInt8] {
    let layout = results.layout
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    func append(_ text: String) {
      bytes.append(contentsOf: text.utf8)
      bytes.append(0xFF)
    }
    append(query.definition.name)
    append(String(results.count))
    append(String(layout.columns.count))
    append(layout.section == nil ? "" : "sections")
    for name in layout.columns { append(name) }
    for name in layout.keyNames { append(name) }
    // What is shown in another way is another content; what is shown as it is stays what it was.
    for (name, type) in zip(layout.columns, layout.types) {
      if let type { append(name + " " + type.text) }
    }
    return bytes
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
