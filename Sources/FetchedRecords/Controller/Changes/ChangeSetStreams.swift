public import GRDB
import Locks
import OrderedResults

extension FetchedRecordsController {
  /// The present state, and the changes from now on, one whole change set after the other.
  ///
  /// ```swift
  /// for try await changes in controller.changeSets { apply(changes) }
  /// ```
  ///
  /// Where records were fetched, the first change set is a ``FetchedRecordsChangeSet/isReset`` with
  /// all of them. A consumer that is slower than the changes gets them joined: what waits is never
  /// more than one change set, from what it got last to the present, and none if that is the same.
  /// Iterating keeps tracking; it ends when the controller is let go or the task is cancelled, and
  /// throws when changes could not be looked for: as ``trackErrors(_:)``.
  public var changeSets: FetchedRecordsChangeSets<Record> {
    let stream = streams.open(identity)
    let shown = fetchedRecords
    if shown.state != nil {
      stream.send(
        FetchedRecordsChangeSet(resetFrom: FetchedResults(state: nil, indexTitle: nil), to: shown))
    }
    core.trackIfNeeded()
    return FetchedRecordsChangeSets(stream)
  }

  /// The records, now and after each change.
  ///
  /// ```swift
  /// for try await players in controller.values { print(players.count) }
  /// ```
  ///
  /// Fetches the records, if nothing was fetched yet. Who is slow gets the latest only. It ends and
  /// throws as ``changeSets``, and throws what that fetch throws.
  public var values: FetchedRecordsValues<Record> {
    var failure: (any Error)?
    if fetchedRecords.state == nil {
      do { try performFetch() } catch { failure = error }
    }
    let changeSets = changeSets
    if let failure { changeSets.stream.finish(throwing: failure) }
    return FetchedRecordsValues(changeSets.stream)
  }
}

/// Change sets of a controller, as they happen. Iterate it once.
public struct FetchedRecordsChangeSets<Record: FetchableRecord & SendableMetatype>: AsyncSequence,
  Sendable
{
  let stream: ChangeSetStream<Record>
  /// Whether an update is worth telling; nil: every one is.
  var isTold: (@Sendable (_ old: Record, _ new: Record) -> Bool)?

  init(_ stream: ChangeSetStream<Record>) { self.stream = stream }

  /// Begins to wait for change sets; what came since the sequence was made waits already.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: stream, isTold: isTold) }

  /// Waits for one change set after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let stream: ChangeSetStream<Record>
    fileprivate let isTold: (@Sendable (Record, Record) -> Bool)?

    /// The next change set; nil: there will be none.
    ///
    /// - Throws: why changes could not be looked for.
    public mutating func next() async throws -> FetchedRecordsChangeSet<Record>? {
      while let changes = try await stream.next() {
        guard let isTold else { return changes }
        let told = changes.withUpdates(where: isTold)
        if !told.isEmpty { return told }
      }
      return nil
    }
  }
}

/// The records of a controller, now and after each change. Iterate it once.
public struct FetchedRecordsValues<Record: FetchableRecord & SendableMetatype>: AsyncSequence,
  Sendable
{
  private let stream: ChangeSetStream<Record>

  init(_ stream: ChangeSetStream<Record>) { self.stream = stream }

  /// Begins to wait for records.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

  /// Waits for the records of one commit after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let stream: ChangeSetStream<Record>

    /// The records; nil: there will be no others.
    ///
    /// - Throws: why they could not be fetched.
    public mutating func next() async throws -> FetchedResults<Record>? {
      try await stream.next()?.new
    }
  }
}

/// What waits for one consumer: at most one change set.
final class ChangeSetStream<Record: FetchableRecord & SendableMetatype>: Sendable {
  private let identity: RecordIdentity<Record>
  private let state = Mutex(State())

  fileprivate struct State {
    var waiting: FetchedRecordsChangeSet<Record>?
    var consumer: CheckedContinuation<FetchedRecordsChangeSet<Record>?, any Error>?
    /// nil: there is more to come.
    var end: Result<FetchedRecordsChangeSet<Record>?, any Error>?
  }

  init(_ identity: RecordIdentity<Record>) { self.identity = identity }

  func send(_ changes: FetchedRecordsChangeSet<Record>) {
    let consumer = state.withLock { state in
      defer { state.consumer = nil }
      if state.consumer == nil, state.end == nil {
        state.waiting = state.waiting.map { $0.joined(with: changes, identity) } ?? changes
        if state.waiting?.isEmpty == true { state.waiting = nil }
      }
      return state.consumer
    }
    consumer?.resume(returning: changes)
  }

  /// Ends the sequence, after what waits.
  func finish(throwing error: (any Error)? = nil) {
    let end = error.map(Result<FetchedRecordsChangeSet<Record>?, any Error>.failure)
    let consumer = state.withLock { state in
      defer { state.consumer = nil }
      // An error that nobody waits for is for whoever asks next, once.
      if state.end == nil { state.end = state.consumer.map { _ in .success(nil) } ?? end }
      state.end = state.end ?? .success(nil)
      return state.consumer
    }
    consumer?.resume(with: end ?? .success(nil))
  }

  func next() async throws -> FetchedRecordsChangeSet<Record>? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (superseded, answer) = state.withLock { state in
          // A second consumer ends the wait of the first.
          let superseded = state.consumer
          state.consumer = nil
          return (superseded, state.answer(orWait: continuation))
        }
        superseded?.resume(returning: nil)
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      finish()
    }
  }
}

extension ChangeSetStream.State {
  /// What there is to say at once; nil: the consumer waits.
  fileprivate mutating func answer(
    orWait continuation: CheckedContinuation<FetchedRecordsChangeSet<Record>?, any Error>
  ) -> Result<FetchedRecordsChangeSet<Record>?, any Error>? {
    if let changes = waiting {
      waiting = nil
      return .success(changes)
    }
    if let end {
      self.end = .success(nil)
      return end
    }
    consumer = continuation
    return nil
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

  func finish(throwing error: (any Error)? = nil) {
    for stream in all { stream.finish(throwing: error) }
  }

  private var all: [ChangeSetStream<Record>] {
    entries.withLock { entries in
      if entries.isEmpty { return [] }
      entries.removeAll { $0.stream == nil }
      // Of a generic type, a key path would be made anew each time.
      return entries.compactMap { $0.stream }
    }
  }
}
