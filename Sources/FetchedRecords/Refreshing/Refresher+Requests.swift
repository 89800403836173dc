import DequeModule
import Dispatch
import Synchronization

// What clients ask for: first results, and results anew.
//
// Each is a piece of work of its own on the queue, and only one of them waits there: a commit has at
// most one of them before it, however many clients ask.
extension Refresher {
  /// What clients wait for, in the order in which they asked.
  struct Requests {
    enum Request {
      case open(@Sendable () -> Void)
      /// For all that have asked since it was last done.
      case fetch(LiveResult)
    }

    typealias Receiver = @Sendable (Result<ResultsSnapshot, FetchFailure>) -> Void

    /// At most one for each live result.
    private var waiting: Deque<Request> = []
    private var receivers: [ObjectIdentifier: [Receiver]] = [:]
    /// Whether a piece of work is on the queue that takes the next one.
    private var isServed = false

    /// - Returns: whether a piece of work has to be put on the queue.
    mutating func append(_ open: @escaping @Sendable () -> Void) -> Bool {
      waiting.append(.open(open))
      return beginIfIdle()
    }

    /// Joins whoever waits for the same live result already. O(1).
    ///
    /// - Returns: whether a piece of work has to be put on the queue.
    mutating func append(_ live: LiveResult, _ receiver: @escaping Receiver) -> Bool {
      let id = ObjectIdentifier(live)
      if receivers[id] == nil { waiting.append(.fetch(live)) }
      receivers[id, default: []].append(receiver)
      return beginIfIdle()
    }

    private mutating func beginIfIdle() -> Bool {
      defer { isServed = true }
      return !isServed
    }

    mutating func next() -> (request: Request, receivers: [Receiver])? {
      guard let request = waiting.popFirst() else { return nil }
      guard case .fetch(let live) = request else { return (request, []) }
      return (request, receivers.removeValue(forKey: ObjectIdentifier(live)) ?? [])
    }

    /// One is done.
    ///
    /// - Returns: whether a piece of work has to be put on the queue for the next one.
    mutating func goOn() -> Bool {
      isServed = !waiting.isEmpty
      return isServed
    }
  }

  /// Fetches a query and keeps it up to date from now on.
  ///
  /// - Parameters:
  ///   - name: a query of the ``catalog``.
  ///   - arguments: values for its parameters; one that is left out is NULL.
  ///   - onEvent: is called on ``queue`` for every change after the snapshot.
  ///   - completion: is called on ``queue``, before any event, with the live result, or with a
  ///     ``FetchFailure``.
  package func open(
    _ name: String, arguments: QueryArguments,
    onEvent: @escaping @Sendable (LiveResultEvent) -> Void,
    completion: @escaping @Sendable (Result<LiveResult, FetchFailure>) -> Void
  ) {
    let isFirst = requests.withLock { requests in
      requests.append { [self] in
        completion(openNow(name, arguments: arguments, onEvent: onEvent))
      }
    }
    if isFirst { queue.async { [self] in serveRequest() } }
  }

  /// Runs a live result's query again now, whatever was noticed.
  ///
  /// Values that no commit announces, such as `datetime('now')`, change only like this. All that ask
  /// before it has begun are answered by one fetch.
  package func fetch(
    _ live: LiveResult,
    completion: @escaping @Sendable (Result<ResultsSnapshot, FetchFailure>) -> Void
  ) {
    let isFirst = requests.withLock { $0.append(live, completion) }
    if isFirst { queue.async { [self] in serveRequest() } }
  }

  private func serveRequest() {
    if let (request, receivers) = requests.withLock({ $0.next() }) {
      switch request {
      case .open(let open): open()
      case .fetch(let live):
        let result = fetchNow(live)
        for receiver in receivers { receiver(result) }
      }
    }
    // What has come meanwhile goes first.
    if requests.withLock({ $0.goOn() }) { queue.async { [self] in serveRequest() } }
  }

  private func openNow(
    _ name: String, arguments: QueryArguments,
    onEvent: @escaping @Sendable (LiveResultEvent) -> Void
  ) -> Result<LiveResult, FetchFailure> {
    answer { db in
      let (snapshot, resumed) = try firstSnapshot(of: name, arguments: arguments, in: db)
      let opened = LiveResult(
        queryName: name, arguments: arguments, snapshot: snapshot, resumed: resumed,
        onEvent: onEvent)
      live.add(opened, query: snapshot.query)
      try followTables(in: db)
      return opened
    }
  }

  private func fetchNow(_ result: LiveResult) -> Result<ResultsSnapshot, FetchFailure> {
    answer { db in
      guard live.contains(result) else { return }
      if !pending.isEmpty {
        noteSuccess()
        announce()
        beforeLongWork()
      }
      bringUpToDate([(result, .refetch(because: ["asked"]))], in: db)
    }
    .flatMap { result.failure.map(Result.failure) ?? .success(result.snapshot) }
  }
}
