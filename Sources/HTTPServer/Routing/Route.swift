/// One of a router's patterns, by which answers are counted.
///
/// Equal by number: a request costs no hash of a text.
package struct Route: Sendable, Hashable {
  private let number: Int

  /// The pattern: `/v1/queries/{query}`.
  package let name: String

  init(number: Int, name: String) {
    self.number = number
    self.name = name
  }

  /// Whatever has no pattern: files.
  static let otherwise = Route(number: -1, name: "files")

  /// Whether they are the same pattern of one router.
  package static func == (left: Route, right: Route) -> Bool { left.number == right.number }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
