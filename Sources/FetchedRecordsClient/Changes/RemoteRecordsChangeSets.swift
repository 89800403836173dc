extension RemoteRecordsController {
  /// The present state, and the changes from now on, one whole change set after the other.
  ///
  /// ```swift
  /// for try await change in players.changeSets { show(change.new) }
  /// ```
  ///
  /// The first one is a ``RemoteRecordsChangeSet/isReset`` with all records. Each starts from what the
  /// one before led to. For a consumer that lags by more than 64 of them they are joined to a reset.
  ///
  /// What passes by itself, a server that is down or a query that fails, is waited for. It throws
  /// ``RemoteRecordsError`` where the server refuses, or a record is no `Record`; it ends when the query
  /// is gone, the controller is closed, or the task is cancelled.
  public nonisolated var changeSets: RemoteRecordsChangeSets<Record> {
    RemoteRecordsChangeSets(subscription)
  }

  /// The records, now and after each change. It ends and throws as ``changeSets``.
  public nonisolated var values:
    AsyncMapSequence<RemoteRecordsChangeSets<Record>, RemoteRecords<Record>>
  {
    changeSets.map { $0.new }
  }
}

/// Change sets of a query, as they happen.
public struct RemoteRecordsChangeSets<Record: Decodable & Sendable>: AsyncSequence, Sendable {
  private let subscription: RecordsSubscription<Record>

  init(_ subscription: RecordsSubscription<Record>) { self.subscription = subscription }

  /// Begins with the present state.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription) }

  /// Waits for one change set after the other.
  public struct Iterator: AsyncIteratorProtocol {
    /// Followed for as long as somebody waits.
    private let subscription: RecordsSubscription<Record>
    private let inbox: Inbox<Record>
    private var isOver = false

    fileprivate init(_ subscription: RecordsSubscription<Record>) {
      self.subscription = subscription
      inbox = subscription.join()
    }

    /// The next change set; nil: there will be none.
    ///
    /// - Throws: ``RemoteRecordsError`` where the server refuses, or a record is no `Record`.
    public mutating func next() async throws -> RemoteRecordsChangeSet<Record>? {
      while !isOver, let news = await inbox.next() {
        switch news {
        case .changes(let changes): return changes
        case .end(let problem):
          isOver = true
          if let problem { throw problem }
        case .trouble(let problem?) where problem.reason == .undecodable:
          isOver = true
          throw problem
        case .state, .transport, .shows, .trouble: break
        }
      }
      isOver = true
      return nil
    }
  }
}
