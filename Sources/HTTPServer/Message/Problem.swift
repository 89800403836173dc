package import HTTPTypes

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
    let title = problem.status.reasonPhrase
    let json =
      #"{"type":"about:blank","title":"\#(escaped(title))","status":\#(problem.status.code),"#
      + #""detail":"\#(escaped(problem.detail))"}"# + "\n"
    return Response(problem.status, fields, body: .bytes(Array(json.utf8)))
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
