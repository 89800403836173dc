import Locks

/// Who follows a query, and what they have been told.
final class Audience<Record: Sendable>: Sendable {
  fileprivate struct Reader {
    weak var inbox: Inbox<Record>?
  }

  fileprivate struct Stage {
    var readers: [Reader] = []
    var shown = RemoteRecords<Record>()
    var state = RemoteRecordsState.connecting
    var transport = RemoteRecordsTransport.stream
    var request: RemoteRequest?
    var trouble: RemoteRecordsError?
    var end: RemoteRecordsError??
  }

  private let stage = Mutex(Stage())

  /// What follows, and before it all that has been told.
  func join() -> Inbox<Record> {
    let inbox = Inbox<Record>()
    stage.withLock { stage in
      stage.readers.append(Reader(inbox: inbox))
      if let request = stage.request { inbox.add(.shows(request)) }
      if stage.shown.version != nil {
        inbox.add(.changes(RemoteRecordsChangeSet(resetFrom: RemoteRecords(), to: stage.shown)))
      }
      inbox.add(.transport(stage.transport))
      if let trouble = stage.trouble { inbox.add(.trouble(trouble)) }
      inbox.add(.state(stage.state))
      if let end = stage.end { inbox.add(.end(end)) }
    }
    return inbox
  }

  /// All are told in the same order.
  func tell(_ news: News<Record>) { stage.withLock { $0.tell(news) } }

  /// Something else is asked for: a refusal is over, unless it is for good.
  func reopen() {
    stage.withLock { stage in
      guard let end = stage.end, end?.isForGood != true else { return }
      stage.end = nil
      stage.tell(.trouble(nil))
    }
  }

  func finish() {
    stage.withLock { stage in
      for reader in stage.readers { reader.inbox?.finish() }
      stage.readers = []
    }
  }
}

extension Audience.Stage {
  /// Tells what is new in it, and before it that a trouble is over which it ends.
  fileprivate mutating func tell(_ news: News<Record>) {
    if trouble != nil, ends(news) { tell(.trouble(nil)) }
    guard isNew(news) else { return }
    readers.removeAll { $0.inbox == nil }
    for reader in readers { reader.inbox?.add(news) }
  }

  /// Whether the present trouble is over with it.
  private func ends(_ news: News<Record>) -> Bool {
    switch news {
    case .changes: true
    // What is no trouble of the connection lasts.
    case .state(.live): trouble?.reason != .failed && trouble?.reason != .undecodable
    default: false
    }
  }

  /// Remembers it; whether it says anything new.
  private mutating func isNew(_ news: News<Record>) -> Bool {
    switch news {
    case .changes(let changes):
      shown = changes.new
      return true
    case .state(let state):
      defer { self.state = state }
      if [.connecting, .live, .stale].contains(state) { end = nil }
      return state != self.state
    case .transport(let transport):
      defer { self.transport = transport }
      return transport != self.transport
    case .shows(let request):
      defer { self.request = request }
      return request != self.request
    // Once, until it is over or another.
    case .trouble(let trouble):
      defer { self.trouble = trouble }
      guard let trouble, let last = self.trouble else {
        return (trouble == nil) != (self.trouble == nil)
      }
      return !trouble.isSame(as: last)
    case .end(let problem):
      end = .some(problem)
      return true
    }
  }
}

extension RemoteRecordsError {
  /// Whether there is nothing new in it: the words of a connection's trouble may have times in them.
  fileprivate func isSame(as other: RemoteRecordsError) -> Bool {
    reason == other.reason && status == other.status
      && (isOfConnection || description == other.description)
  }

  private var isOfConnection: Bool {
    [.unreachable, .foreign, .silent, .busy, .token].contains(reason)
  }
}
