import HTTP1
import FetchedRecords
import HTTPServer
import HTTPTypes

extension RecordsService {
  /// Adds every resource of `protocol.md` §2.
  func addRoutes(to router: inout Router) {
    let query = "/v1/queries/{query}"
    let json = ["application/json"]
    let stream = EventFormat.allCases.map(\.rawValue)
    let text = ["text/plain"]
    router.on(.get, "/v1/queries", sending(json, Self.listQueries))
    router.on(.get, query, sending(json, Self.describeQuery))
    router.on(.get, "\(query)/sections", sending(json, Self.listSections))
    router.on(.get, "\(query)/sections/{section}", sending(json, Self.describeSection))
    router.on(
      .get, "\(query)/sections/{section}/records", sendingPages(Self.listSectionRecords))
    router.on(
      .get, "\(query)/sections/{section}/records/{item}", sending(json, Self.recordAtIndexPath))
    router.on(.get, "\(query)/records", sendingPages(Self.listRecords))
    router.on(.get, "\(query)/records/{key}", sending(json, Self.recordByKey))
    router.on(.get, "\(query)/records/{key}/{column}", admitting(Self.column))
    router.on(.get, "\(query)/sectionIndexTitles", sending(json, Self.listSectionIndexTitles))
    router.on(.get, "\(query)/sectionIndexTitles/{title}", sending(json, Self.sectionForIndexTitle))
    router.on(.get, "\(query)/events", sending(stream, Self.streamEvents))
    router.on(.get, "\(query)/changes", sending(json, Self.pollChanges))
    router.on(.post, "\(query)/fetch", sending(json, Self.fetch))
    router.on(.post, "/v1/explore", sending(json, Self.explore))
    router.on(.post, "/v1/tickets", sending(json, Self.issueTicket))
    router.on(.get, "/v1/events", sending(stream, Self.streamSeveral))
    router.on(.get, "/v1/openapi.json", sending(json, Self.describeInterface))
    router.on(.get, "/v1/selftest", Self.sending([stream[0]], SelfTest.stream))
    router.on(.get, "/healthz") { _, responder in responder.respond(Self.text("ok\n")) }
    router.on(.get, "/readyz", Self.sending(text, readiness))
    router.on(.get, "/metrics", sending(text, Self.metrics))
  }

  /// The same for who may ask, once it is known who they are.
  private func sending(
    _ types: [String],
    _ handler: @escaping @Sendable (RecordsService) -> Server.Handler
  ) -> Server.Handler {
    Self.sending(types, admitting(handler))
  }

  private func admitting(
    _ handler: @escaping @Sendable (RecordsService) -> Server.Handler
  ) -> Server.Handler {
    // Bound once: that takes as long as to find a page that is kept.
    guard gate != nil else { return handler(self) }
    return { request, responder in admit(request, responder) { handler($0)($1, $2) } }
  }

  /// Pages in the format that a request would rather have.
  private func sendingPages(
    _ handler: @escaping @Sendable (RecordsService) -> PageHandler
  ) -> Server.Handler {
    let json = admitting { service in { handler(service)($0, $1, .json) } }
    let csv = admitting { service in { handler(service)($0, $1, .csv) } }
    let either = Self.sending(PageFormat.allCases.map(\.rawValue)) { request, responder in
      (PageFormat(request) == .csv ? csv : json)(request, responder)
    }
    return { request, responder in
      // Nearly all say nothing or take anything.
      let field = request.fields.value(of: .accept)
      (field == nil || field == "*/*" ? json : either)(request, responder)
    }
  }

  private typealias PageHandler = @Sendable (Request, Responder, PageFormat) -> Void

  /// Refuses a request that takes no answer of these types: RFC 9110 §15.5.7.
  private static func sending(
    _ types: [String], _ handler: @escaping Server.Handler
  ) -> Server.Handler {
    { request, responder in
      let field = request.fields.value(of: .accept)
      if field == nil || field == "*/*" || types.contains(where: MediaRanges(field).accept) {
        return handler(request, responder)
      }
      let names = types.joined(separator: " or ")
      let detail = "This resource is \(names): name it in Accept, or leave the field out."
      responder.respond(response(to: Problem(.notAcceptable, detail)))
    }
  }

  /// Whether requests would be answered: from a database that can be read, by a refresher that
  /// follows it, within the limits.
  private func readiness(_ request: Request, _ responder: Responder) {
    if refresher.isStuck() {
      let detail =
        "a commit was noticed more than 10 s ago and is not brought in: the log may say why"
      return responder.respond(Self.response(to: Problem(.serviceUnavailable, detail)))
    }
    if let failure = refresher.failure ?? registry.exhaustion {
      return responder.respond(Self.response(to: Problem(failure)))
    }
    responder.respond(Self.text("ok\n\(failingQueries)"))
  }

  /// The queries that fail, one a line: a server that answers all others is ready. Where callers are
  /// told from each other, neither names nor reasons are for everybody.
  private var failingQueries: String {
    let failing = refresher.failingQueries.sorted { $0.key < $1.key }
    if failing.isEmpty { return "" }
    guard gate == nil else {
      return "\(failing.count == 1 ? "a query fails" : "\(failing.count) queries fail"): "
        + "the log says why\n"
    }
    return failing.map { name, failure in
      "the query \(name) fails: \(failure.detail)".showingControls() + "\n"
    }.joined()
  }

  /// A text that says how things are at this moment.
  static func text(_ text: String) -> Response {
    Response(
      .ok, [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
      body: .bytes(Array(text.utf8)))
  }
}
