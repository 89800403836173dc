import CCurl
import Foundation

/// A client of one query that asks for changes again and again (`protocol.md` §8).
final class Poller {
  private(set) var model: ClientModel
  private(set) var cursor: String?
  private let path: String
  private let items: String

  /// - Parameters:
  ///   - query: its name.
  ///   - items: its parameters, as `a=1&b=2`.
  ///   - model: what the client knows from before.
  init(_ query: String, _ items: String = "", model: ClientModel = ClientModel()) {
    path = "/v1/queries/\(query)/changes"
    self.items = items
    self.model = model
  }

  /// What the client asks for next.
  func url(wait: Int) -> String {
    var words = items.isEmpty ? [] : [items]
    words.append("wait=\(wait)")
    if !model.version.isEmpty { words.append("after=\(model.version)") }
    if let cursor { words.append("cursor=\(cursor)") }
    return path + "?" + words.joined(separator: "&")
  }

  /// Asks, and takes in the answer.
  @discardableResult
  func poll(_ client: HTTPClient, wait: Int = 0, _ fields: [String] = []) throws -> JSONValue {
    try take(try client.get(url(wait: wait), fields))
  }

  /// Takes in an answer, and holds it against the contract.
  @discardableResult
  func take(_ answer: HTTPClient.Answer) throws -> JSONValue {
    guard answer.status == 200 else { throw ContractViolation("no changes: \(answer.text)") }
    let json = try answer.json
    guard json.names == ["from", "version", "commit", "cursor", "events"] else {
      throw ContractViolation("not the members of an answer: \(json.names)")
    }
    let events = try json["events"].elements.map { try ReceivedEvent(element: $0) }
    guard let next = json["cursor"].string, let version = json["version"].string else {
      throw ContractViolation("no cursor or version: \(answer.text)")
    }
    let mayBegin = events.first?.type == "snapshot"
    guard json["from"].string == (mayBegin ? nil : model.version) else {
      throw ContractViolation("from \(json["from"]), and not from \(model.version)")
    }
    guard !events.isEmpty || next != cursor else {
      throw ContractViolation("the next URL would be the same: \(answer.text)")
    }
    for event in events { _ = try model.receive(event) }
    // What has come back to what the client has, has another number.
    let isThere =
      events.isEmpty
      ? model.version.stateOfVersion == version.stateOfVersion : model.version == version
    guard isThere, !model.isInsideChangeSet else {
      throw ContractViolation("the events lead to \(model.version), not to \(version)")
    }
    guard events.isEmpty || (json["commit"].int ?? 0) >= model.commit else {
      throw ContractViolation("the commit is before that of the events: \(answer.text)")
    }
    cursor = next
    return json
  }

  /// Asks until the client has a version.
  func catchUp(to version: String, _ client: HTTPClient) throws {
    let deadline = Date(timeIntervalSinceNow: patience)
    while model.version.stateOfVersion != version.stateOfVersion {
      guard Date() < deadline else { throw TimedOut("\(version) of \(path)") }
      try poll(client, wait: 1)
    }
  }
}

extension EventStream {
  /// The whole answer to a request that waited, waited for.
  func answer() throws -> HTTPClient.Answer {
    guard try end() == CURLE_OK else { throw ContractViolation("broken off: \(text)") }
    return HTTPClient.Answer(head: try head(), body: bytes)
  }
}

extension ServerFixture {
  /// Requests for changes that wait, as `fields` of somebody who may know are told.
  func waitingPolls(_ fields: [String] = []) throws -> Int? {
    let text = try get("/metrics", fields).text
    return text.firstMatch(of: /\ndidchange_polls (\d+)\n/).flatMap { Int($0.1) }
  }

  /// Asks on a connection of its own, and returns when the request waits beside as many others.
  func waitingPoll(
    _ path: String, _ fields: [String] = [], beside others: Int = 0, seenBy other: [String] = []
  ) throws -> EventStream {
    let poll = stream(path, .init(fields: fields))
    try eventually("\(path) waits") { try waitingPolls(other) == others + 1 }
    return poll
  }
}
