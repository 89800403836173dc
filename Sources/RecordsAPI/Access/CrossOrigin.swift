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
  package static func flaw(_ origin: String) -> Flaw? {
    let example = "write https://HOST, without a path"
    guard let match = origin.wholeMatch(of: /(https?):\/\/([^\/?#@\s]+)/) else {
      return Flaw("\"\(origin)\" is no origin", mend: example)
    }
    guard origin == origin.lowercased() else {
      return Flaw("\"\(origin)\" has capital letters", mend: "write \(origin.lowercased())")
    }
    let standard = match.1 == "http" ? ":80" : ":443"
    guard !match.2.hasSuffix(standard) else {
      return Flaw(
        "\"\(origin)\" names the port that is meant anyway", mend: "leave out \(standard)")
    }
    return nil
  }

  /// Whether pages of an origin are among them; nil is one that the browser keeps to itself.
  func allows(_ origin: String?) -> Bool {
    switch self {
    case .everyone: true
    case .origins(let origins): origin.map(origins.contains) ?? false
    }
  }

  /// Answers a preflight itself, and adds to the answers of `next` what lets the page read them.
  ///
  /// Where only some origins may read, every answer says that it depends on `Origin`, also that to
  /// a request without one: else a cache would give it to a page that may read it with nothing that
  /// says so (https://fetch.spec.whatwg.org/#cors-protocol-and-http-caches).
  func handle(
    _ request: Request, _ responder: Responder, next: (Request, Responder) -> Void
  ) {
    let fields = fields(for: request.fields.value(of: .origin))
    if fields.isEmpty { return next(request, responder) }
    let isPreflight =
      request.method == .options && request.fields.value(of: .origin) != nil
      && request.fields[.requestMethod] != nil
    if isPreflight {
      return responder.respond(.noContent, fields.merging(Self.preflight))
    }
    responder.amend { $0.fields = $0.fields.merging(fields) }
    next(request, responder)
  }

  private func fields(for origin: String?) -> HTTPFields {
    switch self {
    case .everyone:
      return origin == nil ? [:] : [.allowOrigin: "*", .exposeHeaders: Self.exposed]
    case .origins(let origins):
      guard let origin, origins.contains(origin) else { return [.vary: "Origin"] }
      return [
        .allowOrigin: origin, .allowCredentials: "true", .exposeHeaders: Self.exposed,
        .vary: "Origin",
      ]
    }
  }

  private static let exposed = "ETag, Allow, Link, Accept-Ranges, Content-Range"

  /// Ten minutes is the most that Chromium keeps.
  private static let preflight: HTTPFields = [
    .allowMethods: "GET, HEAD, POST",
    .allowHeaders: "Authorization, Last-Event-ID, If-None-Match, Cache-Control", .maxAge: "600",
  ]
}

extension HTTPFields {
  /// Whether it is said already that the answer depends on a field: RFC 9110 §12.5.5.
  private func varies(by name: String) -> Bool {
    self[values: .vary].contains { list in
      list.listItems.contains { $0.elementsEqual(name) }
    }
  }

  fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
    var result = self
    for field in others {
      if field.name != .vary {
        result[field.name] = field.value
      } else if !result.varies(by: field.value) {
        result.append(field)
      }
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
