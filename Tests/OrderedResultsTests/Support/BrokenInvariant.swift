/// What does not hold in a data structure, with the numbers.
struct BrokenInvariant: Error, CustomStringConvertible {
  let description: String

  static func require(
    _ condition: Bool, _ description: @autoclosure () -> String
  ) throws(BrokenInvariant) {
    if !condition { throw BrokenInvariant(description: description()) }
  }
}
