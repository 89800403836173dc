@testable import OrderedResults

extension Results {
  /// Under the key that everybody knows.
  var digestText: String { digest(by: .standard).text }
}
