import HTTP1
import HTTPServer
import HTTPTypes

/// By which names clients may call the server.
///
/// A page of another site may have its own name lead to this machine (DNS rebinding); for a browser
/// it is then of the same origin, and reads what it likes. It cannot choose the Host that is sent.
package struct HostNames: Sendable, Equatable {
  private let names: Set<Name>

  private struct Name: Sendable, Hashable {
    /// In lower case.
    var host: String
    /// nil: any.
    var port: Int?
  }

  /// - Parameter texts: `HOST` or `HOST:PORT`, in which ``problem(_:)`` finds nothing wrong.
  package init(_ texts: some Sequence<String>) {
    names = Set(texts.compactMap(Self.name))
  }

  /// What is wrong with a name; nil: nothing.
  package static func flaw(_ text: String) -> Flaw? {
    if let match = text.firstMatch(of: /^[A-Za-z]+:\/\/([^\/]+)/) {
      return Flaw("\"\(text)\" is an address", mend: "write \(match.1)")
    }
    guard name(text) == nil else { return nil }
    return Flaw(
      "\"\(text)\" is no host",
      mend: "write for example localhost, example.org:8080 or \"[::1]\"")
  }

  private static func name(_ text: String) -> Name? {
    let text = text.lowercased()
    guard
      let match = text.wholeMatch(of: /([a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/)
    else { return nil }
    guard let digits = match.2 else { return Name(host: String(match.1), port: nil) }
    return UInt16(digits).map { Name(host: String(match.1), port: Int($0)) }
  }

  /// Refuses a request for another host (RFC 9110 §7.4).
  ///
  /// Whoever asks whether the server is well may call it as he likes: load balancers send an
  /// address, or no Host at all.
  func handle(
    _ request: Request, _ responder: Responder, next: (Request, Responder) -> Void
  ) {
    if holds(request) || request.path == ["healthz"] || request.path == ["readyz"] {
      return next(request, responder)
    }
    let what = request.head.authority.map { "for the host \"\($0)\"" } ?? "without a Host"
    let detail =
      "this server does not answer requests \(what): call it by one of the names that `hosts` in "
      + "its configuration lists, or add this one there"
    responder.respond(Problem.response(Problem(.misdirectedRequest, detail)))
  }

  private func holds(_ request: Request) -> Bool {
    guard let authority = request.head.authority, var name = Self.name(authority) else {
      return false
    }
    if names.contains(Name(host: name.host, port: nil)) { return true }
    name.port = name.port ?? (request.scheme == "https" ? 443 : 80)
    return names.contains(name)
  }
}
