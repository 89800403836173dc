import TestSupport
import Testing

extension RandomCallersRun {
  /// Opens a stream by a token, the cookie or a ticket: anew, or from what somebody has had.
  func openStream(_ caller: String, _ asked: Asked) throws {
    let position = floor(caller)
    var path = "/v1/queries/\(asked.query)/events\(asked.items)"
    var fields = Shop.bearer(caller)
    switch random.number(0...3) {
    case 0: fields = Shop.cookie(caller)
    case 1:
      guard let ticket = try ticket(of: caller) else { return }
      path += (asked.items.isEmpty ? "?" : "&") + "access_token=\(ticket)"
      // Whatever else is said of who it is.
      fields = random.once(in: 2) ? Shop.bearer(random.pick(["ann", "bob"])) : []
    default: break
    }
    var options = EventStream.Options(fields: fields)
    var model = ClientModel()
    if !random.once(in: 3), let memory = memory(for: caller, asked) {
      options.lastEventID = memory.model.version
      model = memory.model
      let isOwn = memory.caller == caller
      count(isOwn ? "a version of one's own" : "a version of another caller")
      note("(from a version of \(memory.caller), who had \(memory.asked))")
    }
    // A stream whose claims change may name an earlier commit: another test is about that.
    model.ignoresCommits = true
    let stream = fixture.stream(path, options)
    let status = try stream.head().status
    note("\(caller) opens \(asked): \(status)")
    count("a stream with \(status)")
    guard status == 200 else {
      judgeLater(status, caller, asked, from: position)
      return
    }
    streams.append(
      RandomCallerStream(Follower(stream, model: model), caller, asked, from: position))
  }

  /// Asks for what has changed since somebody had something, and since when that can be true.
  func poll(
    _ caller: String, _ asked: Asked
  ) throws -> (seen: JSONValue, caller: String, asked: Asked, from: Int) {
    let from = floor(caller)
    var model = random.once(in: 3) ? ClientModel() : memory(for: caller, asked)?.model
    model?.ignoresCommits = true
    let poller = Poller(
      asked.query, String(asked.items.dropFirst()), model: model ?? ClientModel())
    let answer = try fixture.get(poller.url(wait: 0), Shop.bearer(caller))
    note("\(caller) polls \(asked): \(answer.status)")
    count("a poll with \(answer.status)")
    guard answer.status == 200 else { return (.number("\(answer.status)"), caller, asked, from) }
    try poller.take(answer)
    memories.append((poller.model, caller, asked))
    return (.array(poller.model.records.map(\.values)), caller, asked, from)
  }

  /// What somebody had of the same query, of whom it may be.
  private func memory(
    for caller: String, _ asked: Asked
  ) -> (model: ClientModel, caller: String, asked: Asked)? {
    let isForeign = random.once(in: 2)
    let some = memories.suffix(200).filter { memory in
      memory.asked.query == asked.query && (memory.caller != caller) == isForeign
    }
    return some.isEmpty ? nil : random.pick(Array(some))
  }

  /// Nil: the caller gets none.
  private func ticket(of caller: String) throws -> String? {
    let position = floor(caller)
    let answer = try fixture.client().send("POST", "/v1/tickets", Shop.bearer(caller))
    count("a ticket")
    note("\(caller) asks for a ticket: \(answer.status)")
    guard answer.status == 200 else {
      judgeLater(answer.status, caller, Asked(query: "session"), from: position)
      return nil
    }
    return try answer.json["ticket"].string
  }
}
