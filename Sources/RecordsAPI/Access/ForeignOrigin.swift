import HTTPServer
import HTTPTypes

/// Refuses what a page of another origin would have this server do.
///
/// A browser sends a POST without a body from any page and does not ask first
/// (https://fetch.spec.whatwg.org/#cors-safelisted-method); CORS only keeps the answer from the page.
/// A client that is no browser names no origin, and may do what it likes.
enum ForeignOrigin {
  /// - Parameters:
  ///   - request: of any method; those that only read are never refused.
  ///   - crossOrigin: which other origins may do what this one may.
  /// - Returns: why the request is refused; nil: it is not.
  static func problem(_ request: Request, allowing crossOrigin: CrossOrigin?) -> Problem? {
    switch request.method {
    case .get, .head, .options: return nil
    default: break
    }
    guard isForeign(request) else { return nil }
    let origin = request.fields[.origin]
    if crossOrigin?.allows(origin) == true { return nil }
    return Problem(
      .forbidden,
      "a page of \(origin ?? "another origin") may not do this: name its origin under `cors` in "
        + "the configuration")
  }

  /// Whether a page of another origin asks, as far as its browser says so. No page can write these two fields itself: https://fetch.spec.whatwg.org/#forbidden-request-header
  static func isForeign(_ request: Request) -> Bool {
    // https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header: the browser knows its page's
    // origin, whatever a proxy has made of the Host field. It is silent over plain HTTP.
    if let site = request.fields[.fetchSite] { return !["same-origin", "none"].contains(site) }
    guard let origin = request.fields[.origin] else { return false }
    return origin != request.origin
  }
}

extension Request {
  /// The origin of this server as the client sees it (RFC 6454 §6.2); nil without a Host field.
  fileprivate var origin: String? {
    guard let authority else { return nil }
    let host = authority.lowercased()
    let standard = scheme == "https" ? ":443" : ":80"
    return "\(scheme)://\(host.hasSuffix(standard) ? String(host.dropLast(standard.count)) : host)"
  }
}

extension HTTPField.Name {
  fileprivate static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
