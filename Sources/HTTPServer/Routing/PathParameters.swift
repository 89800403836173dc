/// What stands in the path where the pattern of a route has `{names}`.
package struct PathParameters: Sendable, Equatable {
  private var entries: [(name: String, value: String, encoded: String)] = []

  /// No parameters.
  package init() {}

  /// The decoded value of a parameter.
  ///
  /// The route's pattern has this name, so it is there.
  package subscript(name: String) -> String {
    entries.first { $0.name == name }?.value ?? ""
  }

  /// The value as it was sent, in which a `,` and a `%2C` differ.
  package func encoded(_ name: String) -> String {
    entries.first { $0.name == name }?.encoded ?? ""
  }

  mutating func append(_ name: String, _ value: String, encoded: String) {
    entries.append((name, value, encoded))
  }

  mutating func removeLast() { entries.removeLast() }

  /// Whether names and values are equal.
  package static func == (left: PathParameters, right: PathParameters) -> Bool {
    left.entries.elementsEqual(right.entries, by: ==)
  }
}
