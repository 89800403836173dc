/// Why keys or a secret cannot be used, in a plain sentence without a full stop.
package struct KeyProblem: Error, Sendable, Equatable {
  package let message: String

  init(_ message: String) { self.message = message }
}
