import FetchedRecords
import Locks
import OrderedResults

/// How many bytes the `snapshot` event of one state has, found out only as far as somebody must know.
///
/// Whatever else leads to a state is compared with it: `protocol.md` §4 promises that a stream which
/// missed something is never sent more than a snapshot and a tenth. Nothing is counted until
/// something is compared that is longer than the shortest snapshot of so many records; then the
/// snapshot is written, for nobody, up to the size that it is compared with. So a comparison costs at
/// most what was already spent on the events that are compared, and the streams that come back to
/// one state count together.
final class SnapshotSize: Sendable {
  private struct Count {
    /// What was not counted yet.
    var rest: SnapshotEvent
    /// Bytes that were counted.
    var bytes = 0
  }

  private let event: SnapshotEvent
  private let count: Mutex<Count>

  /// Pieces in which a snapshot is counted: little is written in vain.
  private static let pieceSize = 4096

  init(_ event: SnapshotEvent) {
    self.event = event
    count = Mutex(Count(rest: event))
  }

  /// The size, or `limit` where it is at least that.
  ///
  /// O(limit), and O(1) where that is known.
  func bytes(upTo limit: Int) -> Int {
    if limit <= event.leastSize { return limit }
    return count.withLock { count in
      while count.bytes < limit, let piece = count.rest.next(size: Self.pieceSize) {
        count.bytes += piece.count
      }
      return min(count.bytes, limit)
    }
  }

  /// Whether so many bytes are more than the snapshot and a tenth of it.
  func isExceeded(by bytes: Int) -> Bool { [self].areExceeded(by: bytes) }
}

extension [SnapshotSize] {
  /// Whether so many bytes are more than all the snapshots and a tenth of them.
  func areExceeded(by bytes: Int) -> Bool {
    // The least size of which that is no more than eleven tenths.
    let least = (bytes * 10 + 10) / 11
    var sum = 0
    for size in self where sum < least { sum += size.bytes(upTo: least - sum) }
    return sum < least
  }
}
