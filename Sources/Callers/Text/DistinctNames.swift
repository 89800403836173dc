/// Notices a second member of one name.
///
/// Names are compared while they are few, as they are in tokens: a set would cost each object
/// more than all the rest of reading it. Many are hashed, so that a token that is made of nothing
/// else costs O(n) too.
struct DistinctNames {
  private static let few = 16
  private var names: Set<ExactText> = []

  /// Whether a name is none of the members' that came before. O(1).
  mutating func insert(_ name: String, after members: [Claims.Member]) -> Bool {
    if members.count < Self.few {
      return !members.contains { $0.name.hasSameBytes(as: name) }
    }
    if names.isEmpty { names = Set(members.map { ExactText($0.name) }) }
    return names.insert(ExactText(name)).inserted
  }
}
