import DequeModule
import FetchedRecords
import HTTPServer
import OrderedResults

/// What a feed showed at one version.
struct RememberedState: Sendable {
  let version: String
  /// The position in the log after the events that led to it.
  let position: Broadcast.Position
  /// One for each query of the feed, in their order.
  let snapshots: [ResultsSnapshot]
}

/// Earlier states of a feed, so that what a reader has missed can be told as one change set when its
/// events are no longer in the log, or are more than what is left of them.
///
/// States share what did not change between them. The latest ones are held, and those at which a
/// reader stopped reading, each kind bounded in number and in bytes; the oldest go first.
struct StateMemory {
  fileprivate struct Entry {
    let state: RememberedState
    /// About the bytes that are only held for this state.
    var cost = 0
  }

  private let maximumCount: Int
  private let maximumBytes: Int
  private var recent: Deque<Entry> = []
  private var stalled: Deque<Entry> = []

  /// - Parameters:
  ///   - maximumCount: states of each kind, the present one not counted.
  ///   - maximumBytes: about what those of each kind hold together.
  ///   - first: the present state.
  init(maximumCount: Int, maximumBytes: Int, _ first: RememberedState) {
    self.maximumCount = maximumCount
    self.maximumBytes = maximumBytes
    recent = [Entry(state: first)]
  }

  /// States held, and about how many bytes for them alone.
  var size: (count: Int, bytes: Int) {
    (recent.count + stalled.count, Self.cost(recent) + Self.cost(stalled))
  }

  /// Takes the next state, which differs from the last one in so many records and sections.
  /// O(states held).
  mutating func append(_ state: RememberedState, changes: Int) {
    let records = state.snapshots.reduce(0) { $0 + $1.results.count }
    for index in stalled.indices { stalled[index].grow(changes, of: records) }
    recent[recent.count - 1].grow(changes, of: records)
    recent.append(Entry(state: state))
    // The present state is held by the feed itself.
    trim(&recent, keeping: 1)
    trim(&stalled, keeping: 0)
  }

  /// Begins anew: from the states before nothing leads to this one.
  mutating func restart(with state: RememberedState) {
    recent = [Entry(state: state)]
    stalled = []
  }

  /// A reader has stopped at a position.
  mutating func noteStall(at position: Broadcast.Position) {
    guard !stalled.contains(where: { $0.state.position == position }),
      let entry = recent.last(where: { $0.state.position == position })
    else { return }
    stalled.append(entry)
    trim(&stalled, keeping: 0)
  }

  /// The state of a version, if it is remembered.
  func state(of version: String) -> RememberedState? { find { $0.version == version } }

  /// The state that a reader at this position has.
  func state(at position: Broadcast.Position) -> RememberedState? {
    find { $0.position == position }
  }

  private func find(_ isMeant: (RememberedState) -> Bool) -> RememberedState? {
    (recent.last { isMeant($0.state) } ?? stalled.last { isMeant($0.state) })?.state
  }

  private func trim(_ entries: inout Deque<Entry>, keeping kept: Int) {
    var bytes = Self.cost(entries)
    while entries.count > kept, entries.count > maximumCount + kept || bytes > maximumBytes {
      bytes -= entries.removeFirst().cost
    }
  }

  private static func cost(_ entries: Deque<Entry>) -> Int { entries.reduce(0) { $0 + $1.cost } }
}

extension StateMemory.Entry {
  /// A changed record makes its block of at most 8 KiB anew, in which at most 128 records stand.
  fileprivate mutating func grow(_ changes: Int, of records: Int) {
    cost = min(cost + changes * 8192, (records / 64 + 1) * 8192)
  }
}
