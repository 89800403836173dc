import DequeModule
import FetchedRecords
import HTTPServer
import OrderedResults

/// Earlier states of a feed, so that what a reader has missed can be told as one change set when its
/// events are no longer in the log, or are more than what is left of them.
///
/// States share what did not change between them. The latest ones are held, and those at which a
/// reader stopped reading, each kind bounded in number and in bytes; the oldest go first.
struct StateMemory {
  private let maximumCount: Int
  private let maximumBytes: Int
  /// With the present state, which the feed itself holds, as the last.
  private var recent = Entries()
  private var stalled = Entries()

  /// - Parameters:
  ///   - maximumCount: states of each kind, the present one not counted.
  ///   - maximumBytes: about what those of each kind hold together.
  ///   - first: the present state.
  init(maximumCount: Int, maximumBytes: Int, _ first: RememberedState) {
    self.maximumCount = maximumCount
    self.maximumBytes = maximumBytes
    recent.append(first)
  }

  /// States held, and about how many bytes for them alone.
  var size: (count: Int, bytes: Int) {
    (recent.count + stalled.count, recent.bytes + stalled.bytes)
  }

  /// Takes the next state, which differs from the last one in so many records and sections.
  ///
  /// O(s), s stalled readers' states.
  mutating func append(_ state: RememberedState, changes: Int) {
    let records = state.snapshots.reduce(0) { $0 + $1.results.count }
    // A changed record makes its block of at most 8 KiB anew, in which at most 128 records stand.
    let (cost, most) = (changes * 8192, (records / 64 + 1) * 8192)
    stalled.growAll(by: cost, most: most)
    recent.growLast(by: cost, most: most)
    recent.append(state)
    recent.trim(count: maximumCount + 1, bytes: maximumBytes, keeping: 1)
    stalled.trim(count: maximumCount, bytes: maximumBytes, keeping: 0)
  }

  /// Begins anew: from the states before nothing leads to this one.
  mutating func restart(with state: RememberedState) {
    (recent, stalled) = (Entries(), Entries())
    recent.append(state)
  }

  /// Forgets all but the present state.
  mutating func forget() {
    recent.trim(count: 1, bytes: maximumBytes, keeping: 1)
    stalled = Entries()
  }

  /// A reader has stopped at a position.
  mutating func noteStall(at position: Broadcast.Position) {
    guard stalled.state(where: { $0.position == position }) == nil,
      let entry = recent.entry(where: { $0.position == position })
    else { return }
    stalled.append(entry.state, cost: entry.cost)
    stalled.trim(count: maximumCount, bytes: maximumBytes, keeping: 0)
  }

  /// The latest states whose numbers are greater, in their order.
  func states(after number: Int) -> [RememberedState] { recent.states(after: number) }

  /// The state of this name, if it is remembered: the last one, where it came back.
  func state(named name: Substring) -> RememberedState? { find { $0.version.state == name } }

  /// The state that a reader at this position has.
  func state(at position: Broadcast.Position) -> RememberedState? {
    find { $0.position == position }
  }

  private func find(_ isMeant: (RememberedState) -> Bool) -> RememberedState? {
    recent.state(where: isMeant) ?? stalled.state(where: isMeant)
  }
}

/// States in order, with about the bytes that are only held for each.
private struct Entries {
  struct Entry {
    let state: RememberedState
    var cost: Int
  }

  private var entries: Deque<Entry> = []
  /// About the bytes of all.
  private(set) var bytes = 0

  var count: Int { entries.count }

  mutating func append(_ state: RememberedState, cost: Int = 0) {
    entries.append(Entry(state: state, cost: cost))
    bytes += cost
  }

  mutating func growLast(by cost: Int, most: Int) { grow(entries.count - 1, by: cost, most: most) }

  mutating func growAll(by cost: Int, most: Int) {
    for index in entries.indices { grow(index, by: cost, most: most) }
  }

  private mutating func grow(_ index: Int, by cost: Int, most: Int) {
    let old = entries[index].cost
    entries[index].cost = min(old + cost, most)
    bytes += entries[index].cost - old
  }

  /// Drops the oldest beyond a count or a number of bytes, but not the `kept` newest.
  mutating func trim(count: Int, bytes most: Int, keeping kept: Int) {
    while entries.count > kept, entries.count > count || bytes > most {
      bytes -= entries.removeFirst().cost
    }
  }

  func entry(where isMeant: (RememberedState) -> Bool) -> Entry? {
    entries.last { isMeant($0.state) }
  }

  func states(after number: Int) -> [RememberedState] {
    entries.reversed().prefix { $0.state.version.number > number }.reversed().map(\.state)
  }

  func state(where isMeant: (RememberedState) -> Bool) -> RememberedState? {
    entry(where: isMeant)?.state
  }
}
