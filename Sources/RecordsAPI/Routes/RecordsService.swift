import FetchedRecords
import HTTPServer
import HTTPTypes

/// The resources of `protocol.md` §2, answered from live feeds.
///
/// A handler runs on a connection's event loop and must not wait: where the first fetch is still to
/// come, the answer is given from the refresher's queue.
struct RecordsService: Sendable {
  let registry: FeedRegistry
  /// One for all streams.
  let heartbeat: Heartbeat
  let numbers = ServerNumbers()
  let refreshes: RefreshCounters
  var pages: PageCache { registry.pages }

  init(registry: FeedRegistry, refreshes: RefreshCounters, heartbeat: Duration) {
    self.registry = registry
    self.refreshes = refreshes
    self.heartbeat = Heartbeat(bytes: Array(": heartbeat\n\n".utf8), interval: heartbeat)
  }

  var refresher: Refresher { registry.refresher }
  var catalog: QueryCatalog { refresher.catalog }

  /// The query that a path names.
  func entry(named name: String) throws(Problem) -> QueryCatalog.Entry {
    if let entry = catalog[name] { return entry }
    let names = catalog.all.map(\.definition.name)
    let near = NearestWord.ranked(name, among: names)
    let detail =
      near.isEmpty
      ? "GET /v1/queries lists the queries there are"
      : "did you mean \(near.joined(separator: ", "))? GET /v1/queries lists all"
    throw Problem.notFound("there is no query \(name): \(detail)")
  }

  /// What a request about one query's results needs: its feed and its URL query.
  func withFeed(
    _ request: Request, _ responder: Responder, words: Set<String> = [],
    _ body: @escaping @Sendable (Feed, QueryItems) throws -> Response
  ) {
    do {
      let entry = try entry(named: request.parameters["query"])
      let items = try QueryItems(request.query, allowed: words)
      let key = FeedKey(
        query: entry.definition.name, arguments: try items.arguments(for: entry.definition))
      registry.acquire(key) { result in
        responder.respond(
          Self.answer {
            let feed = try result.mapError { Problem($0) }.get()
            defer { registry.release(feed) }
            return try body(feed, items)
          })
      }
    } catch {
      responder.respond(Self.response(to: error))
    }
  }

  /// An answer made from the feed's present snapshot, or `304` where the client has that version.
  func withSnapshot(
    _ request: Request, _ responder: Responder, words: Set<String> = [],
    _ body: @escaping @Sendable (ResultsSnapshot, QueryItems) throws -> [UInt8]
  ) {
    if let response = pages.response(to: request) { return responder.respond(response) }
    withFeed(request, responder, words: words) { feed, items in
      let head = feed.head
      if let failure = head.failure { throw Problem(failure) }
      let json = try body(head.snapshot, items)
      return pages.remember(
        json, of: feed, version: head.snapshot.version.description, for: request)
    }
  }

  static func answer(_ body: () throws -> Response) -> Response {
    do {
      return try body()
    } catch {
      return response(to: error)
    }
  }

  static func response(to error: any Error) -> Response {
    let problem = error as? Problem ?? Problem(.internalServerError, "\(error)")
    return Problem.response(problem)
  }

  static func json(_ write: (inout JSONWriter) -> Void) -> Response {
    var json = JSONWriter()
    write(&json)
    return Response(.ok, [.contentType: "application/json"], body: .bytes(json.bytes))
  }
}
