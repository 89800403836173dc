import Dispatch

// Results that are shown together, and so at one commit.
extension Refresher {
  /// Has live results fetched at one commit from now on, where that takes long.
  ///
  /// On ``queue`` only; ``unbind(_:from:)`` must follow.
  ///
  /// - Parameters:
  ///   - results: those that are shown together.
  ///   - owner: who shows them.
  /// - Returns: those that may not show the present.
  package func bind(_ results: [LiveResult], to owner: ObjectIdentifier) -> Set<ObjectIdentifier> {
    access.preconditionInTurn()
    let each = Dictionary(results.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { $1 })
    guard each.count > 1 else { return [] }
    for result in each.values { result.companions[owner] = Array(each.values) }
    return Set(each.filter { $0.value.isToldDelayed && $0.value.holdsUpCompanions }.keys)
  }

  /// They are no longer shown together; from any thread.
  package func unbind(_ results: [LiveResult], from owner: ObjectIdentifier) {
    access.async {
      for result in results { result.companions[owner] = nil }
    }
  }

  /// Whether one of those that are shown together with `result` is being fetched.
  ///
  /// Then it waits: two that are behind are fetched at one commit.
  func hasBusyCompanion(_ result: LiveResult) -> Bool {
    guard result.holdsUpCompanions else { return false }
    return result.companions.values.joined().contains {
      $0 !== result && $0.background != nil && $0.holdsUpCompanions
    }
  }

  /// Those that have to show the same commit as `result`, and are behind as well.
  ///
  /// O(c), c those that are shown together with it, and with these.
  func companions(of result: LiveResult) -> [LiveResult] {
    var found: [ObjectIdentifier: LiveResult] = [:]
    var open = result.holdsUpCompanions ? [result] : []
    while let next = open.popLast() {
      for other in next.companions.values.joined()
      where other !== result && other.isBehind && other.background == nil
        && other.holdsUpCompanions && live.contains(other)
        && found.updateValue(other, forKey: ObjectIdentifier(other)) == nil
      {
        open.append(other)
      }
    }
    return Array(found.values)
  }
}
