/// Why a text is not JSON that is read here, and where.
package struct JSONProblem: Error, Sendable, Equatable {
  package let message: String
  /// In bytes from the beginning.
  package let offset: Int
}
