import ChangeCapture
import DequeModule
import Dispatch
import GRDB
import OrderedResults
import QueryAnalysis

// Pages of results that are not live: read by themselves, and nothing of them is held.
extension Refresher {
  /// Reads a page of a result that nobody holds.
  ///
  /// What is short is read on the queue, as everything that is; else it stands in line for a reader.
  ///
  /// - Parameters:
  ///   - name: a query of the ``catalog``.
  ///   - arguments: values for its parameters; one that is left out is NULL.
  ///   - range: which page.
  ///   - completion: is called on ``queue``, with a ``FetchFailure`` where there is no answer.
  /// - Returns: what lets go of the wish.
  @discardableResult
  package func readPage(
    of name: String, arguments: QueryArguments, _ range: PageRange,
    completion: @escaping @Sendable (Result<PageAnswer, FetchFailure>) -> Void
  ) -> @Sendable () -> Void {
    let read = PageRead(
      PageRequest(queryName: name, arguments: arguments, range: range), completion: completion)
    queue.async { [self] in
      if isStopped { return completion(.failure(.ending)) }
      line.pages.append(read)
      serveSoon()
    }
    return { [weak self] in self?.abandon(read) }
  }

  /// Does the next read in line, if that is short, in a transaction in which nothing is missed.
  ///
  /// - Throws: an error that has ended the transaction.
  func servePage(in db: Database) throws {
    guard let read = line.pages.popFirst(), !read.isAbandoned, let task = try makeTask(read, in: db)
    else { return }
    let isShort = mayBeShort(task)
    let meter = ResultMeter(limits, memory, mayWait: false)
    guard isShort,
      task.perform(access.statementGuard, atMost: LiveResult.shortWork, meter, in: db)
    else {
      if isShort { pageDurations[read.request.queryName] = LiveResult.shortWork }
      return line.longPages.append(read)
    }
    finish(task)
    if case .failure(let failure) = task.outcome { try db.rethrowIfTransactionEnded(by: failure) }
  }

  private func answer(_ read: PageRead, _ result: Result<PageAnswer, FetchFailure>) {
    answers.append { read.completion(result) }
  }

  /// - Returns: nil where that is known to be the wrong way, and was answered, or has to wait.
  /// - Throws: an error that has ended the transaction.
  private func makeTask(_ read: PageRead, in db: Database) throws -> PageTask? {
    do {
      try catalog.bringUpToDate(read.request.queryName, in: db)
      let query = try catalog.query(
        named: read.request.queryName, arguments: read.request.arguments)
      if let statement = query.pagedStatement {
        let number = lastChanges.commit(of: query)
        // It is not known what the whole result shows; only that it is the same until it changes.
        let version = ResultsVersion(state: "\(epoch(of: read))-\(number)", number: number)
        if waits(read, forOutlineOf: query, at: version) { return nil }
        return PageTask(
          read, query, statement, version: version, commit: commit,
          places: try? places(of: read, query, at: version, in: db),
          knownCount: pageCosts.count(PageCosts.Key(read), at: version))
      }
      answer(read, .success(.betterLive))
    } catch {
      answer(read, .failure(FetchFailure(any: error)))
      try db.rethrowIfTransactionEnded(by: error)
    }
    return nil
  }

  /// Whether a page is read when the outline of its order has been.
  private func waits(
    _ read: PageRead, forOutlineOf query: Query, at version: ResultsVersion
  ) -> Bool {
    guard let tree = query.outline.map({ OutlinedTree($0.tree) }), wantsOutline(read, tree),
      read.request.range.offsets(at: version) != nil, readOutlineNext(tree)
    else { return false }
    waitingForOutlines.append { [self] in
      if isStopped { return read.completion(.failure(.ending)) }
      line.pages.append(read)
      serveSoon()
    }
    return true
  }

  /// Whether the outline is known or read in any case, or the result is known to be large.
  private func wantsOutline(_ read: PageRead, _ tree: OutlinedTree) -> Bool {
    outlines.contains(tree) || outlinesToRead.contains(tree)
      || pageCosts.lastCount(PageCosts.Key(read)) > limits.recordsOfWhole
  }

  /// Where a page is, where the outline of its order is known and nothing has to be looked for.
  private func places(
    of read: PageRead, _ query: Query, at version: ResultsVersion, in db: Database
  ) throws -> WindowPlaces? {
    guard let tree = query.outline.map({ OutlinedTree($0.tree) }), wantsOutline(read, tree),
      let range = read.request.range.offsets(at: version)
    else { return nil }
    return try places(of: range, query, in: db)
  }

  /// Names a query and its arguments in this life of the process: versions of two results are
  /// never equal.
  private func epoch(of read: PageRead) -> String {
    var hasher = Hasher()
    hasher.combine(epochOfPages)
    hasher.combine(read.request.queryName)
    hasher.combine(read.request.arguments)
    return "p" + String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 36)
  }

  /// Counting takes as long as it took last; rows that are skipped pass by the ten thousand in a
  /// millisecond or so.
  private func mayBeShort(_ task: PageTask) -> Bool {
    if task.isUnpredictable { return false }
    if task.isCounted { return task.rowsPassed < 20_000 }
    return pageDurations[task.read.request.queryName] ?? .zero < LiveResult.shortWork
  }

  func finish(_ task: PageTask) {
    let read = task.read
    if !task.isCounted { pageDurations[read.request.queryName] = task.duration }
    switch task.outcome {
    case .success(let found):
      count { $0.pages += 1 }
      let isDear = pageCosts.note(
        found, at: task.version, of: PageCosts.Key(read), took: task.duration)
      guard let page = found.page else { return answer(read, .success(.betterLive)) }
      answer(read, .success(.page(page, isDear: isDear && mayBeHeld(found))))
    case .failure(let failure):
      if failure.kind == .tooLong { count { $0.overdue += 1 } }
      answer(read, .failure(failure))
    case nil: break
    }
  }

  /// Whether the whole result is, by what its page tells, well within the limits of one.
  private func mayBeHeld(_ found: PageTask.Found) -> Bool {
    guard let page = found.page, !page.records.isEmpty else { return false }
    let bytes = found.bytes / page.records.count * found.count
    return found.count <= limits.resultRows / 2 && bytes <= limits.resultBytes / 2
  }

  // MARK: - Beside the queue

  /// Hands a read to a reader.
  ///
  /// - Returns: false where it has to be tried again.
  func begin(_ read: PageRead, on reader: BackgroundReader) -> Bool {
    if read.isAbandoned { return true }
    return begin(on: reader) { [self] transaction in
      try makeTask(read, in: transaction.db).map {
        BackgroundRun(
          [], page: $0, commit: commit, versionKey: versionKey, seeing: transaction)
      }
    } again: {
      line.longPages.prepend(read)
    } failing: {
      answer(read, .failure($0))
    }
  }

  /// Takes what a reader has read.
  func finish(_ task: PageTask, isOutdated: Bool, _ reason: PutOffReason?) {
    if task.read.isAbandoned { return }
    if !isOutdated, case .failure(let failure) = task.outcome, failure.kind == .abandoned {
      switch reason {
      case .forShorter where !isEnding: return line.putOffPages.append(task.read)
      case .starved where !isEnding: return line.longPages.prepend(task.read)
      case .forShorter, .starved, nil: break
      }
      task.fail(with: .ending)
    } else if isOutdated {
      // Read from a file that is gone.
      return line.pages.append(task.read)
    }
    finish(task)
  }

  /// Whoever waits for a page is refused.
  func failPages(_ pages: [PageRead], with failure: FetchFailure) {
    for read in pages { answer(read, .failure(failure)) }
  }

  private func abandon(_ read: PageRead) {
    read.abandon()
    queue.async { [self] in
      line.remove(read)
      for reader in readers where reader.run?.page?.read === read {
        reader.statementGuard.stop()
        count { $0.abandoned += 1 }
      }
    }
  }
}

extension PageCosts.Key {
  fileprivate init(_ read: PageRead) {
    self.init(query: read.request.queryName, arguments: read.request.arguments)
  }
}

extension FetchFailure {
  /// Nothing long is begun any more.
  static let ending = FetchFailure(
    kind: .busy, detail: "the server is ending: ask it again later")
}
