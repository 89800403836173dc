import OrderedResults

/// Those who show windows of a result and have nothing to be told, until a change touches one.
///
/// A window is kept by its length and its place: the windows of a level are at most 2^level long, and
/// those of a bucket begin in the same 2^level offsets. So an offset is in windows of two buckets of
/// a level at most, and a change finds those that it touches without a look at the others.
struct RestingWindows<Listener> {
  private struct Bucket: Hashable {
    let level: Int
    let place: Int
  }

  private struct Entry: Hashable {
    let range: Range<Int>
    let owner: ObjectIdentifier
  }

  private var listeners: [ObjectIdentifier: (listener: Listener, windows: [Range<Int>])] = [:]
  private var buckets: [Bucket: Set<Entry>] = [:]
  /// How many buckets each level has, of those with any.
  private var levels: [Int: Int] = [:]

  var isEmpty: Bool { listeners.isEmpty }

  func contains(_ owner: ObjectIdentifier) -> Bool { listeners[owner] != nil }

  /// Adds somebody who is not there; O(w), w windows.
  mutating func add(_ owner: ObjectIdentifier, _ listener: Listener, _ windows: [Range<Int>]) {
    listeners[owner] = (listener, windows)
    for window in windows {
      let bucket = Self.bucket(of: window)
      if buckets[bucket] == nil { levels[bucket.level, default: 0] += 1 }
      buckets[bucket, default: []].insert(Entry(range: window, owner: owner))
    }
  }

  /// Removes somebody, who need not be there; O(w), w windows.
  @discardableResult
  mutating func remove(_ owner: ObjectIdentifier) -> Listener? {
    guard let (listener, windows) = listeners.removeValue(forKey: owner) else { return nil }
    for window in windows {
      let bucket = Self.bucket(of: window)
      buckets[bucket]?.remove(Entry(range: window, owner: owner))
      if buckets[bucket]?.isEmpty == true {
        buckets[bucket] = nil
        levels[bucket.level, default: 1] -= 1
        if levels[bucket.level] == 0 { levels[bucket.level] = nil }
      }
    }
    return listener
  }

  /// Removes all.
  mutating func takeAll() -> [(owner: ObjectIdentifier, listener: Listener)] {
    defer { self = RestingWindows() }
    return listeners.map { ($0.key, $0.value.listener) }
  }

  /// Removes those whose windows a change may touch.
  ///
  /// O(k l + t), k offsets, l levels and t windows that are touched or begin near one that is.
  mutating func take(
    touchedBy reach: ChangeReach
  ) -> [(owner: ObjectIdentifier, listener: Listener)] {
    var owners: Set<ObjectIdentifier> = []
    for (level, count) in levels {
      note(&owners, in: reach.shifted, level: level, count: count)
      for offset in reach.updated {
        note(&owners, in: offset..<offset + 1, level: level, count: count)
      }
    }
    return owners.compactMap { owner in remove(owner).map { (owner, $0) } }
  }

  private func note(
    _ owners: inout Set<ObjectIdentifier>, in offsets: Range<Int>, level: Int, count: Int
  ) {
    guard !offsets.isEmpty else { return }
    let first = max(0, (offsets.lowerBound >> level) - 1)
    let last = (offsets.upperBound - 1) >> level
    func note(_ entries: Set<Entry>) {
      for entry in entries where entry.range.overlaps(offsets) { owners.insert(entry.owner) }
    }
    if last - first < count {
      for place in first...last { note(buckets[Bucket(level: level, place: place)] ?? []) }
    } else {
      for (bucket, entries) in buckets where bucket.level == level { note(entries) }
    }
  }

  private static func bucket(of window: Range<Int>) -> Bucket {
    let level = window.count < 2 ? 0 : Int.bitWidth - (window.count - 1).leadingZeroBitCount
    return Bucket(level: level, place: window.lowerBound >> level)
  }
}
