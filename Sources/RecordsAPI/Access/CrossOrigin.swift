import HTTP1
import HTTPServer
import HTTPTypes

/// Which pages of other origins may read the answers: the CORS protocol,
/// https://fetch.spec.whatwg.org/#http-cors-protocol
package enum CrossOrigin: Sendable, Equatable {
  /// Pages of every origin. Without credentials: whoever needs a cookie is named.
  case everyone
  case origins(Set<String>)

  /// What is wrong with the text of an origin; nil: nothing.
  package static func problem(_ origin: String) -> (message: String, mend: String)? {
    let example = "write https://HOST, without a path"
    guard let match = origin.wholeMatch(of: /(https?):\/\/([^\/?#@\s]+)/) else {
      return ("\"\(origin)\" is no origin", example)
    }
    guard origin == origin.lowercased() else {
      return ("\"\(origin)\" has capital letters", "write \(origin.lowercased())")
    }
    let standard = match.1 == "http" ? ":80" : ":443"
    guard !match.2.hasSuffix(standard) else {
      return ("\"\(origin)\" names the port that is meant anyway", "leave out \(standard)")
    }
    return nil
  }

  /// Answers a preflight itself, and adds to the answers of `next` what lets the page read them.
  ///
  /// Requests that carry no `Origin` pay nothing, except that caches are told of it.
  func handle(
    _ request: Request, _ responder: Responder, next: (Request, Responder) -> Void
  ) {
    guard let fields = fields(for: request) else { return next(request, responder) }
    if request.method == .options, request.fields[.requestMethod] != nil {
      return responder.respond(.noContent, fields.merging(Self.preflight))
    }
    next(
      request,
      Responder { response in
        var response = response
        response.fields = response.fields.merging(fields)
        responder.respond(response)
      })
  }

  /// Nil where the request is of no page of another origin.
  private func fields(for request: Request) -> HTTPFields? {
    guard let origin = request.fields.value(of: .origin) else { return nil }
    switch self {
    case .everyone:
      return [.allowOrigin: "*", .exposeHeaders: Self.exposed]
    case .origins(let origins):
      guard origins.contains(origin) else { return [.vary: "Origin"] }
      return [
        .allowOrigin: origin, .allowCredentials: "true", .exposeHeaders: Self.exposed,
        .vary: "Origin",
      ]
    }
  }

  private static let exposed = "ETag, Allow"

  /// Ten minutes is the most that Chromium keeps.
  private static let preflight: HTTPFields = [
    .allowMethods: "GET, HEAD, POST",
    .allowHeaders: "Last-Event-ID, If-None-Match, Cache-Control", .maxAge: "600",
  ]
}

extension HTTPFields {
  fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
    var result = self
    for field in others {
      if field.name == .vary { result.append(field) } else { result[field.name] = field.value }
    }
    return result
  }
}

extension HTTPField.Name {
  fileprivate static let requestMethod = HTTPField.Name("Access-Control-Request-Method")!
  fileprivate static let allowOrigin = HTTPField.Name("Access-Control-Allow-Origin")!
  fileprivate static let allowCredentials = HTTPField.Name("Access-Control-Allow-Credentials")!
  fileprivate static let allowMethods = HTTPField.Name("Access-Control-Allow-Methods")!
  fileprivate static let allowHeaders = HTTPField.Name("Access-Control-Allow-Headers")!
  fileprivate static let exposeHeaders = HTTPField.Name("Access-Control-Expose-Headers")!
  fileprivate static let maxAge = HTTPField.Name("Access-Control-Max-Age")!
}
