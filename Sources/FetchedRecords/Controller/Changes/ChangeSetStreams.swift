public import GRDB
import OrderedResults
import Synchronization

extension FetchedRecordsController {
  /// The changes from now on, one whole change set after the other.
  ///
  /// ```swift
  /// for await changes in controller.changeSets { apply(changes) }
  /// ```
  ///
  /// A consumer that is slower than the changes gets them joined: what waits is never more than one
  /// change set, from what it got last to the present, and none if that is the same. Iterating keeps
  /// tracking; it ends when the controller is let go or the task is cancelled.
  public var changeSets: FetchedRecordsChangeSets<Record> {
    let stream = FetchedRecordsChangeSets(streams.open(identity))
    core.trackIfNeeded()
    return stream
  }
}

/// Change sets of a controller, as they happen. Iterate it once.
public struct FetchedRecordsChangeSets<Record: FetchableRecord & SendableMetatype>: AsyncSequence,
  Sendable
{
  private let stream: ChangeSetStream<Record>

  init(_ stream: ChangeSetStream<Record>) { self.stream = stream }

  /// Begins to wait for change sets; what came since the sequence was made waits already.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

  /// Waits for one change set after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let stream: ChangeSetStream<Record>

    /// The next change set; nil: there will be none.
    public mutating func next() async -> FetchedRecordsChangeSet<Record>? { await stream.next() }
  }
}

/// What waits for one consumer: at most one change set.
final class ChangeSetStream<Record: FetchableRecord & SendableMetatype>: Sendable {
  private let identity: RecordIdentity<Record>
  private let state = Mutex(State())

  private struct State {
    var waiting: FetchedRecordsChangeSet<Record>?
    var consumer: CheckedContinuation<FetchedRecordsChangeSet<Record>?, Never>?
    var isFinished = false
  }

  init(_ identity: RecordIdentity<Record>) { self.identity = identity }

  func send(_ changes: FetchedRecordsChangeSet<Record>) {
    let consumer = state.withLock { state in
      defer { state.consumer = nil }
      if state.consumer == nil, !state.isFinished {
        state.waiting = state.waiting.map { $0.joined(with: changes, identity) } ?? changes
        if state.waiting?.isEmpty == true { state.waiting = nil }
      }
      return state.consumer
    }
    consumer?.resume(returning: changes)
  }

  /// Ends the sequence, after what waits.
  func finish() {
    let consumer = state.withLock { state in
      defer { state.consumer = nil }
      state.isFinished = true
      return state.consumer
    }
    consumer?.resume(returning: nil)
  }

  func next() async -> FetchedRecordsChangeSet<Record>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (superseded, changes, isDone) = state.withLock { state in
          // A second consumer ends the wait of the first.
          let superseded = state.consumer
          state.consumer = nil
          defer { state.waiting = nil }
          let isDone = state.waiting != nil || state.isFinished
          if !isDone { state.consumer = continuation }
          return (superseded, state.waiting, isDone)
        }
        superseded?.resume(returning: nil)
        if isDone { continuation.resume(returning: changes) }
      }
    } onCancel: {
      finish()
    }
  }
}

extension FetchedRecordsChangeSet {
  /// One change set for two that follow each other.
  fileprivate func joined(
    with next: FetchedRecordsChangeSet, _ identity: RecordIdentity<Record>
  ) -> FetchedRecordsChangeSet {
    if isReset || next.isReset { return FetchedRecordsChangeSet(resetFrom: old, to: next.new) }
    guard let before = old.state, let after = next.new.state else { return next }
    return FetchedRecordsChangeSet(
      after.results.changesAcrossLayouts(from: before.results), from: old, to: next.new,
      identity: identity)
  }
}

/// The streams of one controller, held weakly.
final class ChangeSetStreams<Record: FetchableRecord & SendableMetatype>: Sendable {
  private struct Entry {
    weak var stream: ChangeSetStream<Record>?
  }

  private let entries = Mutex<[Entry]>([])

  var isInUse: Bool { entries.withLock { $0.contains { $0.stream != nil } } }

  func open(_ identity: RecordIdentity<Record>) -> ChangeSetStream<Record> {
    let stream = ChangeSetStream(identity)
    entries.withLock { $0.append(Entry(stream: stream)) }
    return stream
  }

  func send(_ changes: FetchedRecordsChangeSet<Record>) {
    for stream in all { stream.send(changes) }
  }

  func finish() {
    for stream in all { stream.finish() }
  }

  private var all: [ChangeSetStream<Record>] {
    entries.withLock { entries in
      entries.removeAll { $0.stream == nil }
      return entries.compactMap(\.stream)
    }
  }
}
