import Dispatch
import HTTP1
import HTTPServer
import HTTPTypes
import JSON
import QueryAnalysis

/// What `--explore` lets clients do, and which.
struct Exploring: Sendable {
  let explorations: Explorations
  /// What the columns of an explored query mean.
  var columnTypes: ColumnTypes
  /// Whether the server answers to the names only that its configuration lists.
  var hasHosts: Bool
  /// Whether callers have to show that they are operators.
  var isForOperators: Bool

  init(_ explorations: Explorations, _ settings: LaunchSettings) {
    self.explorations = explorations
    columnTypes = settings.columnTypes
    hasHosts = settings.service.hosts != nil
    isForOperators = settings.exploresForOperators
  }

  /// Whether a request is about an explored query, or makes one.
  static func isMeant(by request: Request) -> Bool {
    let path = request.path
    guard path.count > 1, path[0] == "v1" else { return false }
    switch path[1] {
    case "explore": return true
    case "queries": return path.count > 2 && path[2].hasPrefix(Explorations.prefix)
    case "events":
      return request.query.contains { item in
        item.name == "query" && item.value?.hasPrefix(Explorations.prefix) == true
      }
    default: return false
    }
  }

  /// Why a request may not explore, as far as it says itself where it comes from; nil: it may.
  ///
  /// A declared query may be read by whom `cors` names, and by any name where `hosts` lists none; but
  /// by an exploration all of the database can be read. So no page of another origin explores, whoever
  /// names it, nor one whose own name leads here (DNS rebinding): a browser sends such a name as Host,
  /// and an address never is one. Where nobody shows who they are, no proxy's client does either.
  func problem(_ request: Request) -> Problem? {
    if ForeignOrigin.isForeign(request) {
      let origin = request.fields[.origin] ?? "another origin"
      return Problem(
        .forbidden, "a page of \(origin) may not explore: only the server's own page may")
    }
    guard hasHosts || Self.isSafe(request.head.authority) else {
      let what = request.head.authority.map { "by the name \"\($0)\"" } ?? "without a Host"
      return Problem(
        .forbidden,
        "nobody explores \(what): call the server by an address or localhost, or list the name under "
          + "`hosts` in the configuration")
    }
    guard isForOperators || !Self.wasForwarded(request) else {
      return Problem(
        .forbidden,
        "nobody explores through a proxy: call the server itself, or say under `callers` in the "
          + "configuration who the `operators` are")
    }
    return nil
  }

  /// Whether a host is an IP address, or this machine by its own name (RFC 6761 §6.3).
  private static func isSafe(_ authority: String?) -> Bool {
    let pattern = /(?:\[([0-9A-Fa-f:.]+)\]|([^:]+))(?::[0-9]*)?/
    guard let match = authority?.wholeMatch(of: pattern) else { return false }
    let host = String(match.1 ?? match.2 ?? "")
    if host.lowercased() == "localhost" { return true }
    // A range may be several addresses, or the word for sockets that have none.
    return host != "unix" && !host.contains("/") && AddressRange(host) != nil
  }

  private static func wasForwarded(_ request: Request) -> Bool {
    let names = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"]
    return request.forwarding != nil
      || names.contains { name in HTTPField.Name(name).map { request.fields[$0] != nil } == true }
  }
}

extension RecordsService {
  /// Whether who makes this request may explore.
  func explores(_ request: Request) -> Bool {
    exploring.map { $0.problem(request) == nil } == true && caller?.isOperator != false
  }

  /// `POST /v1/explore?sql=…`
  func explore(_ request: Request, _ responder: Responder) {
    Explorations.queue.async { responder.respond(Self.answer { try exploration(for: request) }) }
  }

  private func exploration(for request: Request) throws -> Response {
    guard let exploring else {
      throw Problem.notFound("nobody explores here: start the server with --explore")
    }
    try caller?.checkIsOperator()
    let items = try QueryItems(request.query, allowed: ["sql"])
    try items.refuseParameters()
    guard let sql = items["sql"] else {
      throw Problem.badRequest("the SELECT is missing: add sql=SELECT… to the URL, percent-encoded")
    }
    let name = try exploring.explorations.explore(sql.trimmed, exploring.columnTypes)
    return Self.json { json in
      json.object { json in
        json.member("name", name)
        // Relative to the URL that was asked for, whatever prefix a proxy puts before it.
        json.member("url", "queries/\(name)")
      }
    }
  }
}

extension String {
  /// Without the white space at both ends, which changes nothing.
  fileprivate var trimmed: String {
    let isBlank = { (scalar: Unicode.Scalar) in " \t\n\r\u{0C}".unicodeScalars.contains(scalar) }
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }),
      let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(scalars[first...last])
  }
}
