/// What stands in the path where the pattern of a route has `{names}`.
package struct PathParameters: Sendable, Equatable {
  /// What one name stands for.
  struct Value: Sendable, Equatable {
    var decoded: String
    /// As it was sent.
    var encoded: String
  }

  /// Of the pattern, in its order.
  private let names: [String]
  private let values: [Value]

  /// No parameters.
  package init() { self.init(names: [], values: []) }

  init(names: [String], values: [Value]) {
    self.names = names
    self.values = values
  }

  /// The decoded value of a parameter.
  ///
  /// The route's pattern has this name, so it is there.
  package subscript(name: String) -> String { value(name)?.decoded ?? "" }

  /// The value as it was sent, in which a `,` and a `%2C` differ.
  package func encoded(_ name: String) -> String { value(name)?.encoded ?? "" }

  private func value(_ name: String) -> Value? {
    names.firstIndex(of: name).map { values[$0] }
  }
}
