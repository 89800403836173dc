import Dispatch
import FetchedRecords
import HTTP1
import HTTPServer
import HTTPTypes
import QueryAnalysis

// The event streams: `protocol.md` §4.
extension RecordsService {
  private static let words: Set<String> = ["snapshot", "lastEventId", "minInterval", "heartbeat"]

  /// What a stream or a poll of one query shows, and the other words of its URL.
  func subject(
    of request: Request, allowing words: Set<String>
  ) throws -> (subject: StreamSubject, items: QueryItems) {
    let (key, items) = try key(of: request, allowing: words.union(Window.words))
    let member = Composition.Member(key: key, window: try Window(items))
    let interval = try items.minimumInterval
    if member.window == nil, interval == nil { return (.feed(key), items) }
    let composition = Composition(
      members: [member], minimumInterval: interval, isMultiple: false)
    return (.composition(composition), items)
  }

  /// `GET /v1/queries/{query}/events`
  func streamEvents(_ request: Request, _ responder: Responder) {
    stream(request, responder) { service in
      let (subject, items) = try service.subject(of: request, allowing: Self.words)
      return (subject, try StreamOpening(request, items))
    }
  }

  /// `GET /v1/events?query=…&query=…`
  func streamSeveral(_ request: Request, _ responder: Responder) {
    stream(request, responder) { service in
      let queries = request.query.filter { $0.name == "query" }
      let items = try QueryItems(request.query.filter { $0.name != "query" }, allowed: Self.words)
      try items.refuseParameters()
      guard !queries.isEmpty else {
        throw Problem.badRequest(
          "name at least one query: /v1/events?query=NAME&query=NAME%3Fparameter%3Dvalue")
      }
      guard queries.count <= Composition.maximumOfMembers else {
        throw Problem.badRequest(
          "\(queries.count) queries are more than the \(Composition.maximumOfMembers) that one "
            + "stream takes: ask for the others on another one")
      }
      let members = try queries.map { try service.member($0.value ?? "") }
      let composition = Composition(
        members: members.map(\.member), minimumInterval: try items.minimumInterval,
        isMultiple: true)
      guard Set(composition.members).count == composition.members.count else {
        throw Problem.badRequest(
          "a query stands in the URL twice with the same parameters and window: name it once")
      }
      return (
        .composition(composition), try StreamOpening(request, items, known: members.map(\.known))
      )
    }
  }

  /// A query's name, with its parameters as a URL query behind it; `lastEventId` among these is the
  /// version of the query's result that the client has.
  ///
  /// A table that is a query may have a question mark in its name: what is meant is the query with
  /// the longest name that the text begins with. O(q) in the q queries.
  private func member(_ text: String) throws -> (member: Composition.Member, known: String?) {
    let named = visible.lazy.map(\.definition.name).filter { name in
      text.utf8.elementsEqual(name.utf8) || text.utf8.starts(with: "\(name)?".utf8)
    }
    let name =
      named.max { $0.utf8.count < $1.utf8.count } ?? String(text.prefix { $0 != "?" })
    do {
      return try member(named: name, text)
    } catch let problem as Problem {
      throw RefusedMember(query: name, problem: problem)
    }
  }

  private func member(
    named name: String, _ text: String
  ) throws -> (member: Composition.Member, known: String?) {
    let entry = try entry(named: name)
    guard let list = QueryItem.items(of: Substring(text.utf8.dropFirst(name.utf8.count + 1))) else {
      throw Problem.badRequest("query=\(text): its parameters are not percent-encoded UTF-8")
    }
    let items = try QueryItems(list, allowed: Window.words.union(["lastEventId"]))
    let member = Composition.Member(
      key: try FeedKey(entry, items, for: caller), window: try Window(items))
    return (member, items["lastEventId"])
  }

  // MARK: - Bodies

  /// Answers with the stream of what `wish` says that the caller may see.
  private func stream(
    _ request: Request, _ responder: Responder,
    _ wish: @escaping @Sendable (RecordsService) throws -> (StreamSubject, StreamOpening)
  ) {
    do {
      let (subject, wanted) = try wish(self)
      let mayBeShared = mayBeShared(subject, request)
      if let caller, !mayBeShared {
        return stream(caller, wanted, request, responder) { try wish($0).0 }
      }
      let opening = mayBeShared ? wanted.ofShared : wanted
      let format = EventFormat(request)
      let giveUp = try lease(subject, for: request) { result in
        switch result {
        case .failure(let problem): responder.respond(Self.responseToStream(request, problem))
        case .success(let lease):
          let begin = { @Sendable () -> Response in
            // Nobody sees how it begins who asks by HEAD, as caches do.
            let beginning =
              request.isHead
              ? StreamBeginning([], lease.feed.present.position) : lease.feed.beginning(opening)
            let sharing = mayBeShared ? sharedStreams?.next : nil
            let body = body(beginning, lease.feed, format, opening.heartbeat, sharing) {
              lease.end()
            }
            return Response(events: body, format, sharing)
          }
          let give = { @Sendable (response: Response) in responder.respond(response) }
          let isLong =
            !request.isHead && lease.feed.isLong(opening, moreThan: Self.quickSearch)
          isLong ? Self.search(begin, give) : give(begin())
        }
      }
      if let giveUp { responder.whenAbandoned(giveUp) }
    } catch {
      responder.respond(Self.responseToStream(request, error))
    }
  }

  private func stream(
    _ caller: Caller, _ opening: StreamOpening, _ request: Request, _ responder: Responder,
    _ subject: @escaping @Sendable (RecordsService) throws -> StreamSubject
  ) {
    withClaims(of: caller.identity, caller.gate, request, responder) { claims in
      CallerStream(self, caller, claims, opening, request, subject).begin(responder)
    }
  }

  /// A query that no longer exists answers 204, which tells an EventSource to stop. One that a reload changes in
  /// this moment is a stream that ends at once, for an EventSource comes back to that, and not to 503
  /// (https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model).
  static func responseToStream(_ request: Request, _ error: any Error) -> Response {
    let problem = Problem(error)
    if problem.status == .serviceUnavailable,
      problem.detail == FetchFailure.replaced.detail,
      EventFormat(request) == .serverSentEvents
    {
      return Response(
        .ok,
        [.contentType: EventFormat.serverSentEvents.rawValue, .cacheControl: "no-store"],
        body: .bytes(Retry.line()))
    }
    if problem.status == .notFound,
      request.fields[.lastEventID] != nil
        || request.query.contains(where: { $0.name == "lastEventId" })
    {
      return Response(.noContent, [.cacheControl: "no-store"])
    }
    return Problem.response(problem)
  }
}

extension StreamOpening {
  init(_ request: Request, _ items: QueryItems, known: [String?] = []) throws {
    // The header is what a browser sends by itself when it reconnects, and so newer than the URL.
    self.init(
      lastEventID: request.fields[.lastEventID] ?? items["lastEventId"],
      wantsSnapshot: try items.flag("snapshot") ?? true, known: known)
    heartbeat = try items.heartbeat
  }
}

extension QueryItems {
  /// `minInterval`, in milliseconds; at most an hour.
  fileprivate var minimumInterval: Duration? {
    get throws {
      try integer("minInterval", in: 0...3_600_000).map { .milliseconds($0) }
    }
  }

  /// `heartbeat`, by its name; by default a comment.
  fileprivate var heartbeat: HeartbeatForm {
    get throws {
      guard let text = self["heartbeat"] else { return .comment }
      guard let form = HeartbeatForm(rawValue: text) else {
        throw Problem.badRequest("heartbeat=\(text): give comment or event")
      }
      return form
    }
  }
}

extension HTTPField.Name {
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
  static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
