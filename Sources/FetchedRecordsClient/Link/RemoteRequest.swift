import Foundation

/// What is asked for: a query with its parameters, order and window.
struct RemoteRequest: Sendable, Equatable {
  /// What stands before `queries`: `https://example.org/v1/`.
  let base: URL
  let query: String
  /// Each as it stands in a URL, before it is percent-encoded.
  var parameters: [String: String]
  var order: String?
  var window: Range<Int>?

  /// - Parameter url: that of a query, maybe with parameters: `…/v1/queries/players?country=FR`.
  /// - Throws: where it is none.
  init(_ url: URL) throws(RemoteRecordsError) {
    let path = url.path(percentEncoded: true)
    guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let match = path.wholeMatch(of: /(.*\/)queries\/([^\/]+)\/?/),
      let name = String(match.2).removingPercentEncoding,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else {
      throw RemoteRecordsError(
        .address, "“\(url.absoluteString)” is not the address of a query",
        "it ends like http://127.0.0.1:8080/v1/queries/players")
    }
    let items = parts.queryItems ?? []
    (parts.percentEncodedPath, parts.query, parts.fragment) = (String(match.1), nil, nil)
    (base, query) = (parts.url ?? url, name)
    parameters = [:]
    for item in items { parameters[item.name] = item.value ?? "" }
    order = parameters.removeValue(forKey: "order")
  }

  /// Whether it is the same list, of which another window may be shown.
  func isSameList(as other: RemoteRequest) -> Bool {
    parameters == other.parameters && order == other.order
  }

  /// The address of a resource of the query, `events` or `records/7`, with all that is asked for and
  /// more.
  func address(_ resource: String, _ more: [(name: String, value: String)] = []) -> URL {
    var items = parameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    if let order { items.append(("order", order)) }
    if let window {
      items += [("offset", "\(window.lowerBound)"), ("limit", "\(window.count)")]
    }
    let text = (items + more).map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }
      .joined(separator: "&")
    let path = "queries/\(Self.encoded(query))/\(resource)"
    return URL(string: path + (text.isEmpty ? "" : "?\(text)"), relativeTo: base)?.absoluteURL
      ?? base
  }

  /// RFC 3986 §2.3: what is not percent-encoded.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
  }
}
