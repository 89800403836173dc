import Testing

/// One stream of one caller, and what its client has.
final class RandomCallerStream {
  typealias Asked = CallersHistory.Asked

  let caller: String
  let asked: Asked
  let follower: Follower
  /// The client was shown the state after this transaction, or a later one.
  private(set) var position: Int
  private(set) var isOver = false
  /// What ended it.
  private(set) var refusal: Int?

  init(_ follower: Follower, _ caller: String, _ asked: Asked, from position: Int) {
    self.follower = follower
    self.caller = caller
    self.asked = asked
    self.position = position
  }

  var hasNews: Bool { !follower.stream.waiting.isEmpty }

  /// All records that the client has.
  var seen: JSONValue { .array(follower.model.records.map(\.values)) }

  /// Waits for what comes next, and holds it against what there was to be seen.
  func take(in history: CallersHistory) throws {
    switch try follower.next() {
    case .snapshot, .recovery: break
    case .changes(let events): try check(events, in: history)
    case .failure(let problem): return try end(with: problem, in: history)
    }
    position = try history.place(seen, caller, asked, from: position)
  }

  private func end(with problem: JSONValue, in history: CallersHistory) throws {
    guard let status = problem["status"].int, status == 401 || status == 403 else {
      throw ContractViolation("\(caller)'s stream of \(asked) fails: \(problem)")
    }
    position = try history.place(problem["status"], caller, asked, from: position)
    try follower.stream.expectEnd()
    (refusal, isOver) = (status, true)
  }

  /// What changed or went was in the client's list, and so is none of somebody else.
  private func check(_ events: [String], in history: CallersHistory) throws {
    for event in events where event.hasPrefix("change ") {
      let change = try JSONValue(parsing: String(event.dropFirst("change ".count)))
      let record = change["record"]
      var all = [record]
      if case .object(let members) = record, !change["changes"].names.isEmpty {
        all.append(
          .object(members.map { ($0.name, change["changes"].member($0.name) ?? $0.value) }))
      }
      for record in all where !history.mightHaveSeen(record, caller, asked) {
        throw ContractViolation("\(caller) was sent \(record) of \(asked): \(event)")
      }
    }
  }
}
