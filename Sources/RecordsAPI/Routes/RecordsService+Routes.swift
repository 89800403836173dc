import HTTP1
import FetchedRecords
import HTTPServer
import HTTPTypes

extension RecordsService {
  /// Adds every resource of `protocol.md` §2.
  func addRoutes(to router: inout Router) {
    let query = "/v1/queries/{query}"
    let json = "application/json"
    let stream = "text/event-stream"
    let text = "text/plain"
    router.on(.get, "/v1/queries", Self.sending(json, listQueries))
    router.on(.get, query, Self.sending(json, describeQuery))
    router.on(.get, "\(query)/sections", Self.sending(json, listSections))
    router.on(.get, "\(query)/sections/{section}", Self.sending(json, describeSection))
    router.on(.get, "\(query)/sections/{section}/records", Self.sending(json, listSectionRecords))
    router.on(
      .get, "\(query)/sections/{section}/records/{item}", Self.sending(json, recordAtIndexPath))
    router.on(.get, "\(query)/records", Self.sending(json, listRecords))
    router.on(.get, "\(query)/records/{key}", Self.sending(json, recordByKey))
    router.on(.get, "\(query)/sectionIndexTitles", Self.sending(json, listSectionIndexTitles))
    router.on(.get, "\(query)/sectionIndexTitles/{title}", Self.sending(json, sectionForIndexTitle))
    router.on(.get, "\(query)/events", Self.sending(stream, streamEvents))
    router.on(.post, "\(query)/fetch", Self.sending(json, fetch))
    router.on(.get, "/v1/events", Self.sending(stream, streamSeveral))
    router.on(.get, "/v1/selftest", Self.sending(stream, SelfTest.stream))
    router.on(.get, "/healthz") { _, responder in responder.respond(Self.text("ok\n")) }
    router.on(.get, "/readyz", Self.sending(text, readiness))
    router.on(.get, "/metrics", Self.sending(text, metrics))
  }

  /// Refuses a request that takes no answer of this type: RFC 9110 §15.5.7.
  private static func sending(
    _ type: String, _ handler: @escaping Server.Handler
  ) -> Server.Handler {
    { request, responder in
      let field = request.fields.value(of: .accept)
      if field == nil || field == "*/*" || MediaRanges(field).accept(type) {
        return handler(request, responder)
      }
      let detail = "This resource is \(type): name it in Accept, or leave the field out."
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
    responder.respond(Self.text("ok\n"))
  }

  /// A text that says how things are at this moment.
  static func text(_ text: String) -> Response {
    Response(
      .ok, [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
      body: .bytes(Array(text.utf8)))
  }
}
