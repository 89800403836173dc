import Locks

/// What happens to a query, for whoever follows it.
enum News<Record: Sendable>: Sendable {
  case changes(RemoteRecordsChangeSet<Record>)
  case state(RemoteRecordsState)
  case transport(RemoteRecordsTransport)
  /// What is shown is what this request asks for.
  case shows(RemoteRequest)
  /// nil: it is over.
  case trouble(RemoteRecordsError?)
  /// Nothing follows, unless something else is asked for; an error if it was refused.
  case end(RemoteRecordsError?)
}

/// What waits for one reader, who may be slow: of change sets a bounded number, then one that has
/// everything read anew.
final class Inbox<Record: Sendable>: Sendable {
  /// Change sets that may wait.
  private static var most: Int { 64 }

  private let state = Mutex(State())

  fileprivate struct State {
    var waiting: [News<Record>] = []
    var numberOfChanges = 0
    var reader: CheckedContinuation<News<Record>?, Never>?
    var isFinished = false
  }

  func add(_ news: News<Record>) {
    let reader = state.withLock { state in
      if let reader = state.reader {
        state.reader = nil
        return Optional(reader)
      }
      guard !state.isFinished else { return nil }
      state.keep(news, most: Self.most)
      return nil
    }
    reader?.resume(returning: news)
  }

  /// Nothing more will come, after what waits.
  func finish() {
    let reader = state.withLock { state in
      defer { state.reader = nil }
      state.isFinished = true
      return state.reader
    }
    reader?.resume(returning: nil)
  }

  /// nil: nothing more will come, the task is cancelled, or somebody else has begun to wait.
  func next() async -> News<Record>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (superseded, answer) = state.withLock { state in
          let superseded = state.reader
          state.reader = nil
          return (superseded, state.answer(orWait: continuation))
        }
        superseded?.resume(returning: nil)
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      finish()
    }
  }
}

extension Inbox.State {
  /// What there is to say at once; nil: the reader waits.
  fileprivate mutating func answer(
    orWait continuation: CheckedContinuation<News<Record>?, Never>
  ) -> News<Record>?? {
    if !waiting.isEmpty {
      let news = waiting.removeFirst()
      if case .changes = news { numberOfChanges -= 1 }
      return .some(news)
    }
    if isFinished { return .some(nil) }
    reader = continuation
    return nil
  }

  fileprivate mutating func keep(_ news: News<Record>, most: Int) {
    waiting.append(news)
    guard case .changes(let last) = news else {
      // A state of long ago is of no interest.
      if waiting.count - numberOfChanges > most,
        let oldest = waiting.firstIndex(where: { if case .changes = $0 { false } else { true } })
      {
        waiting.remove(at: oldest)
      }
      return
    }
    numberOfChanges += 1
    guard numberOfChanges > most else { return }
    var first: RemoteRecords<Record>?
    waiting.removeAll { news in
      guard case .changes(let changes) = news else { return false }
      first = first ?? changes.old
      return true
    }
    waiting.append(.changes(RemoteRecordsChangeSet(resetFrom: first ?? last.old, to: last.new)))
    numberOfChanges = 1
  }
}
