import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import JSON
import OrderedResults
import QueryAnalysis

/// The resources of `protocol.md` §2, answered from live feeds.
///
/// A handler runs on a connection's event loop and must not wait: where the first fetch is still to
/// come, the answer is given from the refresher's queue.
struct RecordsService: Sendable {
  let registry: FeedRegistry
  /// A stream that is silent for so long is sent a heartbeat.
  private(set) var silence: Duration
  /// When the streams end that caches may share; nil: none may be shared.
  private(set) var sharedStreams: SharedStreams?
  /// What the HTTP server counts, which is made after its routes.
  let server: @Sendable () -> ServerStatistics?
  let refreshes: RefreshCounters
  let pollTimes = PollTimes()
  let streams = StreamCounts()
  /// nil: nobody is told from anybody, and everybody may read everything.
  private(set) var gate: Gatekeeper?
  /// nil: nobody explores.
  var exploring: Exploring?
  /// Who asks; nil where there is no gate.
  var caller: Caller?
  /// The last commit before the caller asked, as the engine counts them.
  var commit = 0
  /// Answers anew, where what the caller may see changed while it was read.
  var again: (@Sendable (Responder) -> Void)?
  var pages: PageCache { registry.pages }

  init(
    registry: FeedRegistry, refreshes: RefreshCounters, gate: Gatekeeper? = nil,
    settings: FeedSettings, server: @escaping @Sendable () -> ServerStatistics?
  ) {
    self.server = server
    self.registry = registry
    self.gate = gate
    self.refreshes = refreshes
    silence = settings.heartbeat
    sharedStreams = settings.sharedStreams.map { SharedStreams(period: $0) }
  }

  /// The same resources by other settings.
  func with(_ settings: FeedSettings, _ gate: Gatekeeper?) -> RecordsService {
    var service = self
    service.gate = gate
    service.silence = settings.heartbeat
    service.sharedStreams = settings.sharedStreams.map { SharedStreams(period: $0) }
    return service
  }

  var refresher: Refresher { registry.refresher }
  var catalog: QueryCatalog { refresher.catalog }

  /// The queries that the caller may read, in their order.
  var visible: [QueryCatalog.Entry] {
    catalog.all.filter { entry in
      !entry.definition.isPrivate && caller?.mayRead(entry.definition.name) != false
    }
  }

  /// The query that a path names.
  func entry(named name: String) throws(Problem) -> QueryCatalog.Entry {
    if let entry = catalog[name], !entry.definition.isPrivate {
      try caller?.check(mayRead: name)
      if name.hasPrefix(Explorations.prefix) { exploring?.explorations.use(name) }
      return entry
    }
    let names = visible.map(\.definition.name)
    let near = NearestWord.ranked(name, among: names)
    let detail =
      near.isEmpty
      ? "GET /v1/queries lists the queries there are"
      : "did you mean \(near.joined(separator: ", "))? GET /v1/queries lists all"
    throw Problem.notFound("there is no query \(name): \(detail)")
  }

  /// What a request is about, and its other words.
  func key(
    of request: Request, allowing words: Set<String> = []
  ) throws -> (key: FeedKey, items: QueryItems) {
    let entry = try entry(named: request.parameters["query"])
    let items = try QueryItems(request.query, allowed: words)
    return (try FeedKey(entry, items, for: caller), items)
  }

  /// Where whole results are looked through and long answers written, which an event loop and a refresh
  /// must not wait for; nor has what a commit wakes to wait for the processor that this is on.
  private static let searching = {
    let thread = WorkerThread(name: "didchange.write")
    thread.lower(to: .behind)
    return thread
  }()

  /// Makes something on that thread, and gives it from one that may make others.
  static func search<Found: Sendable>(
    _ make: @escaping @Sendable () -> Found, _ give: @escaping @Sendable (Found) -> Void
  ) {
    searching.perform {
      let found = make()
      WorkerThread.errands.perform { give(found) }
    }
  }

  /// Where requests go on that have been on the engine's queue, which must not wait for what they write.
  static let writing = DispatchQueue(
    label: "didchange.write", qos: .userInitiated, attributes: .concurrent)

  /// Fewer records than this are looked through in less than a millisecond.
  static let quickSearch = 4096

  /// An answer made from the feed's present snapshot, or `304` where the client has that version.
  func withSnapshot(
    _ request: Request, _ responder: Responder, words: Set<String> = [],
    _ body: @escaping @Sendable (Feed, ResultsSnapshot, QueryItems) throws -> [UInt8]
  ) {
    withSnapshot(request, responder, words: words, isLong: { _, _, _ in false }, body)
  }

  /// The same, where it may take long.
  ///
  /// - Parameters:
  ///   - request: names the query and its arguments.
  ///   - responder: is given the answer.
  ///   - words: the reserved words that the resource understands.
  ///   - isLong: whether `body` would look through a large result, or write much of it.
  ///   - body: writes the answer.
  func withSnapshot(
    _ request: Request, _ responder: Responder, words: Set<String> = [],
    isLong: @escaping @Sendable (Feed, ResultsSnapshot, QueryItems) -> Bool,
    _ body: @escaping @Sendable (Feed, ResultsSnapshot, QueryItems) throws -> [UInt8]
  ) {
    if let response = rememberedPage(request) { return responder.respond(response) }
    answer(request, responder, words: words, isLong: isLong) { feed, snapshot, items in
      let json = try body(feed, snapshot, items)
      return remembered(
        Response(json: json, version: snapshot.version), of: feed, snapshot, for: request)
    }
  }

  /// An answer in JSON, which is given to everybody who asks the same.
  func remembered(
    _ response: Response, of feed: Feed, _ snapshot: ResultsSnapshot, for request: Request
  ) -> Response {
    // What one caller is answered is nothing to remember for another.
    if caller == nil { pages.remember(response, of: feed, version: snapshot.version, for: request) }
    return response
  }

  /// The same where the answer is something else than JSON.
  func answer(
    _ request: Request, _ responder: Responder, words: Set<String> = [],
    isLong: @escaping @Sendable (Feed, ResultsSnapshot, QueryItems) -> Bool,
    _ body: @escaping @Sendable (Feed, ResultsSnapshot, QueryItems) throws -> Response
  ) {
    do {
      let (key, items) = try key(of: request, allowing: words)
      try hold(key, request, responder) { feed, end in
        let answer = { @Sendable (head: Feed.Head) in
          Self.answer { try make(feed, head, items, body) }
        }
        let give = { @Sendable (answer: Response) in
          end()
          responder.respond(answer)
        }
        guard let caller, let row = caller.row else {
          return withHead(of: feed) { head in
            isLong(feed, head.snapshot, items)
              ? Self.search({ answer(head) }, give) : give(answer(head))
          }
        }
        settle(feed, with: row, caller.gate) { head in
          switch head {
          case nil:
            end()
            again?(responder)
          case .failure(let problem):
            end()
            responder.respond(Self.response(to: problem))
          case .success(let head):
            isLong(feed, head.snapshot, items)
              ? Self.search({ answer(head) }, give) : Self.writing.async { give(answer(head)) }
          }
        }
      }
    } catch {
      responder.respond(Self.response(to: error))
    }
  }

  /// Hands over what a feed shows; of one that has failed and is being fetched again, what comes of it:
  /// whoever hears that the server is ready is answered.
  private func withHead(of feed: Feed, _ body: @escaping @Sendable (Feed.Head) -> Void) {
    let head = feed.head
    if head.refusal == nil { return body(head) }
    refresher.queue.async { [refresher] in
      guard let returning = feed.returning(in: refresher) else { return body(feed.head) }
      refresher.whenShown(returning, .max) { _ in
        Self.writing.async { body(feed.head) }
      }
    }
  }

  /// Hands over a feed once there is one, or answers why there is none.
  ///
  /// It counts among what the client's address uses until `end` is called, and nobody waits for it
  /// any more when the client goes away.
  func hold(
    _ key: FeedKey, _ request: Request, _ responder: Responder,
    then body: @escaping @Sendable (Feed, _ end: @escaping @Sendable () -> Void) -> Void
  ) throws {
    let share = try share(of: [key], request)
    let giveUp = registry.acquire(key) { result in
      switch result {
      case .failure(let failure):
        share.end()
        responder.respond(Self.response(to: problem(failure, of: key.query)))
      case .success(let feed):
        body(feed) {
          feed.release(to: registry)
          share.end()
        }
      }
    }
    if let giveUp { responder.whenAbandoned(giveUp) }
  }

  private func make(
    _ feed: Feed, _ head: Feed.Head, _ items: QueryItems,
    _ body: (Feed, ResultsSnapshot, QueryItems) throws -> Response
  ) throws -> Response {
    if let failure = head.refusal { throw Problem(failure) }
    guard let caller else { return try body(feed, head.snapshot, items) }
    try caller.checkIsKnown()
    return try body(feed, head.snapshot.notBefore(caller.row?.commit ?? 0), items)
  }

  /// The answer that was made for everybody.
  func rememberedPage(_ request: Request) -> Response? {
    caller == nil ? pages.response(to: request) : nil
  }

  static func answer(_ body: () throws -> Response) -> Response {
    do {
      return try body()
    } catch {
      return response(to: error)
    }
  }

  static func response(to error: any Error) -> Response {
    Problem.response(Problem(error))
  }

  /// What has no version, and so is asked for again each time.
  static func json(_ write: (inout JSONWriter) -> Void) -> Response {
    var json = JSONWriter()
    write(&json)
    return Response(json: json.bytes)
  }
}

extension FeedKey {
  init(_ entry: QueryCatalog.Entry, _ items: QueryItems, for caller: Caller?) throws {
    self.init(
      query: entry.definition.name,
      arguments: try items.arguments(for: entry.definition, of: caller))
  }
}

extension Response {
  /// JSON, which a client that has this state of it need not be sent again.
  init(json: [UInt8], version: ResultsVersion? = nil) {
    var fields: HTTPFields = [.contentType: "application/json"]
    if let version { fields[.eTag] = "\"\(version.state)\"" }
    fields[.cacheControl] = "no-cache"
    self.init(.ok, fields, body: .bytes(json))
  }

  /// A stream of events, which nothing in between shall change or hold back, nor keep unless it is
  /// shared.
  init(
    events: StreamBody, _ format: EventFormat = .serverSentEvents, _ sharing: StreamSharing? = nil
  ) {
    self.init(
      .ok,
      [
        .contentType: format.rawValue, .cacheControl: "no-cache, no-transform",
        .vary: "Accept", .accelBuffering: "no",
      ], body: .stream(events))
    if let sharing { fields = sharing.amending(fields) }
  }
}
