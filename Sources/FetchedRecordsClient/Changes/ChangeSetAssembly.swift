/// What the events of one query's stream mean, one after the other (`protocol.md` §4).
struct ChangeSetAssembly: Sendable {
  /// What is to be done.
  enum Unit: Sendable {
    case snapshot(RawJSON)
    case changeSet(RawChangeSet)
    case failure(RemoteRecordsError)
    case recovery
  }

  /// A change set whose end is here, its changes still to be decoded.
  struct RawChangeSet: Sendable {
    /// The version that it starts from.
    let from: String
    let changes: [(event: String, data: RawJSON)]
    /// The data of `didChange`.
    let end: RawJSON
  }

  private var open: (begin: [String: RawJSON], changes: [(event: String, data: RawJSON)])?

  /// Half a change set is void: the server resumes before it.
  mutating func interrupt() { open = nil }

  /// - Returns: what an event completes, if it does.
  /// - Throws: where the events are no change set.
  mutating func receive(_ event: String, _ data: RawJSON) throws(ChangeSetError) -> Unit? {
    switch event {
    case "snapshot":
      open = nil
      return .snapshot(data)
    case "willChange": open = (data.object, [])
    case "sectionChange", "change": open?.changes.append((event, data))
    case "didChange":
      defer { open = nil }
      return .changeSet(try end(data))
    case "fetchError": return .failure(RemoteRecordsError(problem: data))
    case "recovered": return .recovery
    // Of a newer server.
    default: break
    }
    return nil
  }

  private func end(_ data: RawJSON) throws(ChangeSetError) -> RawChangeSet {
    let members = data.object
    guard let open, let from = members["from"]?.string, open.begin["from"]?.string == from,
      open.begin["version"]?.string == members["version"]?.string
    else { throw ChangeSetError("a change set ends that has not begun") }
    return RawChangeSet(from: from, changes: open.changes, end: data)
  }
}
