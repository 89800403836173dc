/// What the changes of a whole result do to a window of it.
///
/// Of a window, all that matters is which records left it and which came into it, at its edges or
/// because they went or came themselves, and which of those that stay changed: the offsets of the
/// changes tell that. Neither the window's records nor the rest are looked at.
package struct WindowEffect {
  /// Offsets in the old window, ascending.
  private(set) var deletions: [Int] = []
  /// Offsets in the new window, ascending.
  private(set) var insertions: [Int] = []
  /// Offsets in the old and in the new window, ascending.
  private(set) var updates: [(old: Int, new: Int)] = []
  /// Records of the old and of the new window.
  private let counts: (old: Int, new: Int)

  /// Whether the window shows what it has shown.
  package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && updates.isEmpty }

  /// The change set from one state of the window to the next: the same that
  /// ``Results/changes(from:)`` finds.
  ///
  /// O(k + s), k changes and s sections of the window.
  ///
  /// - Returns: nil where other sections are shown, or under other index titles.
  package func changes(from old: Results, to new: Results) -> ChangeSet? {
    guard old.count == counts.old, new.count == counts.new,
      old.sections.elementsEqual(
        new.sections, by: { $0.name == $1.name && $0.indexTitle == $1.indexTitle })
    else { return nil }
    let list = ChangeOffsets.List(capacity: deletions.count + insertions.count + updates.count) {
      for offset in deletions.reversed() { $0.append(.deletion(offset)) }
    } arrivals: {
      for offset in insertions { $0.append(.insertion(offset)) }
      for update in updates { $0.append(.change(update.old, update.new)) }
    }
    return ChangeSet(
      sectionChanges: [],
      recordChanges: RecordChanges(ChangeOffsets(list, old: old, new: new)))
  }
}

extension ChangeSet {
  /// What the changes do to a window.
  ///
  /// O(k + m), k changes, m records that leave the window or come into it.
  ///
  /// - Parameter window: offsets, which may be behind the end of the results.
  /// - Returns: nil where that is more than offsets tell, or so many changes that it is found out
  ///   sooner by comparing the windows.
  package func effect(on window: Range<Int>) -> WindowEffect? {
    tellingOffsets.flatMap { WindowEffect($0, window) }
  }

  /// The offsets of the changes, where they are few and tell all that there is to know of a window.
  var tellingOffsets: ChangeOffsets? {
    guard let offsets = recordChanges.offsets, offsets.count <= WindowEffect.maximumChanges,
      offsets.new.layout.key != nil, !offsets.old.mayRepeatKeys, !offsets.new.mayRepeatKeys,
      // A window's first section has the index title of a record that may be no section's first.
      offsets.new.layout.sectionIndexTitle == nil
    else { return nil }
    return offsets
  }
}

extension WindowEffect {
  /// To look at a change takes a nanosecond, to compare a window some microseconds.
  fileprivate static let maximumChanges = 4096

  /// Nil where a record moved within the window: among the records that stay there it may well
  /// have kept its place.
  fileprivate init?(_ changes: ChangeOffsets, _ window: Range<Int>) {
    var old = Side(window.clamped(to: 0..<changes.old.count))
    var new = Side(window.clamped(to: 0..<changes.new.count))
    counts = (old.range.count, new.range.count)
    for (position, pair) in changes.list.pairs.enumerated() {
      let (from, to) = (Int(pair.old), Int(pair.new))
      if position < changes.list.numberOfDepartures {
        let wasInside = old.note(from)
        if pair.new != ChangeOffsets.Pair.none, new.note(to), wasInside { return nil }
      } else if pair.old == ChangeOffsets.Pair.none {
        new.note(to)
      } else if old.range.contains(from), new.range.contains(to) {
        updates.append((from - old.range.lowerBound, to - new.range.lowerBound))
      }
    }
    let common = old.ranks.clamped(to: new.ranks)
    deletions = old.offsets(without: common)
    insertions = new.offsets(without: common)
  }
}

/// A window's place in the old or in the new result.
private struct Side {
  let range: Range<Int>
  /// How many records that did not stay stand before the window.
  private var before = 0
  /// The offsets of those inside it.
  private var inside: [Int] = []

  init(_ range: Range<Int>) { self.range = range }

  /// Notes a record that did not stay; returns whether it is inside.
  @discardableResult
  mutating func note(_ offset: Int) -> Bool {
    if offset < range.lowerBound { before += 1 }
    guard range.contains(offset) else { return false }
    inside.append(offset)
    return true
  }

  /// Which of the records that stayed, counted from the first of all, are inside the window: those
  /// that are the same in both results have the same numbers.
  var ranks: Range<Int> {
    range.lowerBound - before..<range.upperBound - before - inside.count
  }

  /// The offsets, counted in the window, of all records but those of some ranks, ascending.
  ///
  /// O(m log m), m of them.
  func offsets(without common: Range<Int>) -> [Int] {
    if common.isEmpty { return Array(0..<range.count) }
    if common == ranks { return inside.sorted().map { $0 - range.lowerBound } }
    let inside = Set(inside)
    // At each edge as many records that stayed as the other window does not show.
    var first = range.lowerBound
    var left = common.lowerBound - ranks.lowerBound
    while left > 0 {
      if !inside.contains(first) { left -= 1 }
      first += 1
    }
    var end = range.upperBound
    left = ranks.upperBound - common.upperBound
    while left > 0 {
      end -= 1
      if !inside.contains(end) { left -= 1 }
    }
    let middle = inside.filter { (first..<end).contains($0) }.sorted()
    return (Array(range.lowerBound..<first) + middle + Array(end..<range.upperBound))
      .map { $0 - range.lowerBound }
  }
}
