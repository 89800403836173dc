import Testing

/// A stream of several queries, and the client that follows it.
struct SeveralFollower {
  let stream: EventStream
  /// What the client knows of each query, by its name and parameters.
  var models: [String: ClientModel] = [:]
  /// Of the commits that were told.
  var commits: [Int] = []

  mutating func receive() throws -> ReceivedEvent {
    let event = try #require(try stream.next())
    let json = try event.json
    guard event.type != "commit" else {
      #expect(event.carriesID)
      #expect(models.values.allSatisfy { !$0.isInsideChangeSet })
      commits.append(json["commit"].int ?? 0)
      return event
    }
    // Every event says its query.
    let name = try #require(json["query"].string) + (json.member("parameters")?.description ?? "")
    var model = models[name] ?? ClientModel()
    model.isOneOfSeveral = true
    _ = try model.receive(event)
    models[name] = model
    return event
  }

  mutating func receive(upTo type: String) throws -> [ReceivedEvent] {
    var events: [ReceivedEvent] = []
    repeat { events.append(try receive()) } while events.last?.type != type
    return events
  }
}
