import FetchedRecords
import HTTPServer
import HTTPTypes

extension RecordsService {
  /// Adds every resource of `protocol.md` §2.
  func addRoutes(to router: inout Router) {
    let query = "/v1/queries/{query}"
    router.on(.get, "/v1/queries", listQueries)
    router.on(.get, query, describeQuery)
    router.on(.get, "\(query)/sections", listSections)
    router.on(.get, "\(query)/sections/{section}", describeSection)
    router.on(.get, "\(query)/sections/{section}/records", listSectionRecords)
    router.on(.get, "\(query)/sections/{section}/records/{item}", recordAtIndexPath)
    router.on(.get, "\(query)/records", listRecords)
    router.on(.get, "\(query)/records/{key}", recordByKey)
    router.on(.get, "\(query)/sectionIndexTitles", listSectionIndexTitles)
    router.on(.get, "\(query)/sectionIndexTitles/{title}", sectionForIndexTitle)
    router.on(.get, "\(query)/events", streamEvents)
    router.on(.post, "\(query)/fetch", fetch)
    router.on(.get, "/v1/events", streamSeveral)
    router.on(.get, "/v1/selftest", SelfTest.stream)
    router.on(.get, "/healthz") { _, responder in responder.respond(Self.text("ok\n")) }
    router.on(.get, "/readyz", readiness)
    router.on(.get, "/metrics", metrics)
  }

  /// Whether requests would be answered from a database that can be read.
  private func readiness(_ request: Request, _ responder: Responder) {
    if let failure = refresher.failure {
      return responder.respond(Self.response(to: Problem(failure)))
    }
    responder.respond(Self.text("ok\n"))
  }

  static func text(_ text: String) -> Response {
    Response(.ok, [.contentType: "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
  }
}
