import Locks
import OrderedResults

/// The whole records that were read last, by rowid; at most a few batches.
final class RowStore: Sendable {
  typealias Row = (digest: Value, record: OrderedResults.Record)

  private let state = Mutex(State())
  private let capacity: Int

  private struct State {
    var rows: [Int64: Row] = [:]
    /// The rowids of what was read together, the oldest first.
    var batches: [[Int64]] = []
  }

  /// - Parameter capacity: how many rows are held at most, but for the last batch.
  init(capacity: Int) { self.capacity = capacity }

  subscript(rowID: Int64) -> Row? { state.withLock { $0.rows[rowID] } }

  func insert(_ rows: [Int64: Row]) {
    state.withLock { state in
      state.rows.merge(rows) { $1 }
      state.batches.append(Array(rows.keys))
      while state.rows.count > capacity, state.batches.count > 1 {
        let kept = Set(state.batches.dropFirst().joined())
        for rowID in state.batches.removeFirst() where !kept.contains(rowID) {
          state.rows[rowID] = nil
        }
      }
    }
  }

  func remove(_ rowIDs: [Int64]) {
    state.withLock { state in
      for rowID in rowIDs { state.rows[rowID] = nil }
    }
  }

  func removeAll() { state.withLock { $0 = State() } }
}
