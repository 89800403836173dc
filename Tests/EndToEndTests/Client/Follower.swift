/// A stream of one query, and the client that follows it.
final class Follower {
  let stream: EventStream
  private(set) var model: ClientModel

  /// Whole change sets and other events, as they come.
  enum Unit {
    case snapshot
    /// The events between `willChange` and `didChange`, each as "kind data".
    case changes([String])
    case failure(JSONValue)
    case recovery(JSONValue)
  }

  /// A client that may know something from an earlier stream.
  init(_ stream: EventStream, model: ClientModel = ClientModel()) {
    self.stream = stream
    self.model = model
  }

  func next() throws -> Unit {
    while let event = try stream.next() {
      if let changes = try model.receive(event) { return .changes(changes.map(\.description)) }
      if event.type == "snapshot" { return .snapshot }
      if event.type == "fetchError" { return .failure(try event.json) }
      if event.type == "recovered" { return .recovery(try event.json) }
    }
    throw ContractViolation("the stream has ended: \(stream.text)")
  }

  func expectSnapshot() throws {
    let unit = try next()
    guard case .snapshot = unit else { throw ContractViolation("no snapshot but \(unit)") }
  }

  /// The next change set.
  func changes() throws -> [String] {
    let unit = try next()
    guard case .changes(let events) = unit else {
      throw ContractViolation("no change set but \(unit)")
    }
    return events
  }

  /// The next change set, whatever failures are told before it.
  func changesAfterFailures() throws -> [String] {
    while true {
      let unit = try next()
      switch unit {
      case .failure, .recovery: continue
      case .changes, .snapshot: break
      }
      guard case .changes(let events) = unit else {
        throw ContractViolation("no change set but \(unit)")
      }
      return events
    }
  }

  func failure() throws -> JSONValue {
    let unit = try next()
    guard case .failure(let failure) = unit else {
      throw ContractViolation("no fetchError but \(unit)")
    }
    return failure
  }

  /// Follows the stream until it has shown a state.
  func catchUp(to version: String) throws {
    while model.version.stateOfVersion != version.stateOfVersion { _ = try next() }
  }
}

extension String {
  /// What of a version names the content (`protocol.md` §5).
  var stateOfVersion: Substring { self[..<(lastIndex(of: ".") ?? endIndex)] }
}
