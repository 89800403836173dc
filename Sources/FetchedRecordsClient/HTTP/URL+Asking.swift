import Foundation

extension URL {
  /// Whom it asks: `127.0.0.1:8080`, `[::1]:8080`.
  var authority: String {
    guard let host = host() else { return absoluteString }
    let name = host.contains(":") ? "[\(host)]" : host
    return port.map { "\(name):\($0)" } ?? name
  }

  /// The same in the form that `URLSession` takes.
  ///
  /// On Linux a scheme is in lower case, and the brackets of an IPv6 address are percent-encoded: it
  /// refuses URLs in which it does not find the host that libcurl finds, and that has brackets
  /// (swift-corelibs-foundation, `CFURLSessionCurlHostIsEqual`).
  var asked: URL {
    let scheme = scheme?.lowercased()
    let address = host(percentEncoded: true).flatMap { $0.contains(":") ? "[\($0)]" : nil }
    guard scheme != self.scheme || address != nil,
      var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
    else { return self }
    parts.scheme = scheme
    #if canImport(FoundationNetworking)
      if let address {
        parts.encodedHost = address.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
      }
    #endif
    return parts.url ?? self
  }
}
