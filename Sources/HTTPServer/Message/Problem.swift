package import HTTPTypes
import JSON

/// Something that the server itself refuses, before it becomes a response.
package struct Problem: Sendable {
  package var status: HTTPResponse.Status

  /// What is wrong and what to do, for the person who wrote the client.
  package var detail: String

  /// Fields that the status requires: `Allow`, `Content-Range`.
  package var fields: HTTPFields

  package init(_ status: HTTPResponse.Status, _ detail: String, fields: HTTPFields = [:]) {
    self.status = status
    self.detail = detail
    self.fields = fields
  }
}

extension Problem {
  /// The problem as `application/problem+json` (RFC 9457).
  package static func response(_ problem: Problem) -> Response {
    var fields = problem.fields
    fields[.contentType] = "application/problem+json"
    // Some of them may be kept by a cache that is told nothing (RFC 9110 §15.1), and would outlive
    // their reason.
    if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
    var json = JSONWriter()
    json.object { json in
      json.member("type", "about:blank")
      json.member("title", problem.status.reasonPhrase)
      json.member("status", problem.status.code)
      json.member("detail", problem.detail)
    }
    json.raw("\n")
    return Response(problem.status, fields, body: .bytes(json.bytes))
  }
}
