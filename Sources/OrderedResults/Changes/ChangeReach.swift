/// Which offsets a change set touches, by which those of many windows are found that it may concern.
package struct ChangeReach: Equatable, Sendable {
  /// The offsets at which another record may stand than before.
  package private(set) var shifted = 0..<0
  /// The offsets of changed records that stand where they stood, ascending.
  package private(set) var updated: [Int] = []

  /// A reach of these offsets alone.
  package init(shifted: Range<Int>, updated: [Int] = []) {
    (self.shifted, self.updated) = (shifted, updated)
  }

  /// O(k), k changes.
  fileprivate init(_ offsets: ChangeOffsets) {
    var (first, last) = (Int.max, -1)
    for pair in offsets.list.pairs {
      let places = [pair.old, pair.new].filter { $0 != ChangeOffsets.Pair.none }.map(Int.init)
      if places.count == 2, places[0] == places[1] {
        updated.append(places[0])
      } else {
        for place in places { (first, last) = (min(first, place), max(last, place)) }
      }
    }
    guard first <= last else { return }
    // As many went as came: what is behind them stands where it stood.
    shifted = first..<(offsets.old.count == offsets.new.count ? last + 1 : .max)
  }
}

extension ChangeSet {
  /// What the changes touch: the effect on a window that has none of it is empty.
  ///
  /// O(k), k changes.
  ///
  /// - Returns: nil where ``effect(on:)`` is nil for any window.
  package var reach: ChangeReach? { tellingOffsets.map(ChangeReach.init) }
}
