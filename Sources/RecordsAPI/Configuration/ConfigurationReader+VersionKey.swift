import Callers
import OrderedResults
import Yams

extension ConfigurationReader {
  /// What states are named with.
  mutating func versionKey(_ node: Node) -> DigestKey? {
    guard let source = secret(node, "`versionKey`") else { return nil }
    do {
      var words = try source.words(DigestKey.wordCount, for: "didchange versions 1")[...]
      return DigestKey { words.removeFirst() }
    } catch {
      note(node.position, error.message)
      return nil
    }
  }
}
