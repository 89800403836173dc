public import GRDB

extension FetchedRecordsController {
  /// Tells of changes from now on; what changed since the last ``performFetch()`` is told soon.
  ///
  /// Each call replaces what an earlier one asked for. A closure that trails without a label is
  /// `didChange`.
  ///
  /// - Parameters:
  ///   - willChange: called first, while the controller still shows the old records.
  ///   - onSectionChange: called for each section that went (from the highest) or came (from the
  ///     lowest), before any record change.
  ///   - onChange: called for each record that changed, with the old record for a deletion and the
  ///     new one otherwise.
  ///   - didChange: called last. It has no default value, so that a closure that trails is never
  ///     taken for another handler: write `didChange: nil` where there is none.
  public func trackChanges(
    willChange: ((FetchedRecordsController<Record>) -> Void)? = nil,
    onSectionChange: ((FetchedRecordsController<Record>, FetchedSectionChange) -> Void)? = nil,
    onChange: ((FetchedRecordsController<Record>, Record, FetchedRecordChange) -> Void)? = nil,
    didChange: ((FetchedRecordsController<Record>) -> Void)?
  ) {
    handlers.willChange = willChange.map { handler in { controller, _ in handler(controller) } }
    handlers.onSectionChange = onSectionChange
    handlers.onChange = onChange
    handlers.didChange = didChange.map { handler in { controller, _ in handler(controller) } }
    track(alongside: nil)
  }

  /// Tells of changes from now on, without a handler that is called last.
  ///
  /// - Parameters:
  ///   - willChange: as for ``trackChanges(willChange:onSectionChange:onChange:didChange:)``.
  ///   - onSectionChange: likewise.
  ///   - onChange: likewise.
  public func trackChanges(
    willChange: ((FetchedRecordsController<Record>) -> Void)? = nil,
    onSectionChange: ((FetchedRecordsController<Record>, FetchedSectionChange) -> Void)? = nil,
    onChange: ((FetchedRecordsController<Record>, Record, FetchedRecordChange) -> Void)?
  ) {
    trackChanges(
      willChange: willChange, onSectionChange: onSectionChange, onChange: onChange, didChange: nil)
  }

  /// Tells of changes no more; ``didChange(with:)`` and ``changeSets`` go on.
  public func trackChanges() {
    trackChanges(didChange: nil)
  }

  /// Tells of changes from now on, with a value that is read in the same transaction as the records.
  ///
  /// - Parameters:
  ///   - fetchAlongside: reads the value; called on any thread, and only when records changed. What
  ///     it throws goes to ``trackErrors(_:)``, and the change is told when it succeeds again.
  ///   - willChange: as for ``trackChanges(willChange:onSectionChange:onChange:didChange:)``.
  ///   - onSectionChange: likewise.
  ///   - onChange: likewise.
  ///   - didChange: likewise.
  public func trackChanges<T: Sendable>(
    fetchAlongside: @escaping @Sendable (Database) throws -> T,
    willChange: ((FetchedRecordsController<Record>, _ fetchedAlongside: T) -> Void)? = nil,
    onSectionChange: ((FetchedRecordsController<Record>, FetchedSectionChange) -> Void)? = nil,
    onChange: ((FetchedRecordsController<Record>, Record, FetchedRecordChange) -> Void)? = nil,
    didChange: ((FetchedRecordsController<Record>, _ fetchedAlongside: T) -> Void)?
  ) {
    handlers.willChange = willChange.map { handler in
      { controller, value in if let value = value as? T { handler(controller, value) } }
    }
    handlers.onSectionChange = onSectionChange
    handlers.onChange = onChange
    handlers.didChange = didChange.map { handler in
      { controller, value in if let value = value as? T { handler(controller, value) } }
    }
    track(alongside: fetchAlongside)
  }

  /// Calls back with each change as a whole, after all other handlers: for a list that is shown by
  /// snapshots or by a difference.
  ///
  /// - Parameter handler: nil: nobody is called any more.
  public func didChange(
    with handler: ((FetchedRecordsController<Record>, FetchedRecordsChangeSet<Record>) -> Void)?
  ) {
    let wasTracking = handlers.areForChanges
    handlers.didChangeWith = handler
    if handlers.areForChanges {
      core.trackIfNeeded()
    } else if wasTracking, !streams.isInUse {
      core.stopTracking()
    }
  }

  /// Calls back when changes could not be looked for.
  ///
  /// Observation goes on, and the next change is relative to the last good fetch. The same error is
  /// not told twice in a row.
  public func trackErrors(
    _ errorHandler: @escaping (FetchedRecordsController<Record>, any Error) -> Void
  ) {
    handlers.onError = errorHandler
  }

  /// Calls back when ``reset()`` has fetched everything anew: reload what shows the records.
  public func trackResets(_ handler: @escaping (FetchedRecordsController<Record>) -> Void) {
    handlers.didReset = handler
  }

  private func track(alongside: (@Sendable (Database) throws -> any Sendable)?) {
    if handlers.areForChanges || streams.isInUse {
      core.track(alongside: alongside)
    } else {
      core.stopTracking()
    }
  }

  // MARK: - Telling

  /// What the engine tells, on the queue.
  func receive(_ told: RecordsListener.Told) {
    switch told {
    case .failure(let error):
      handlers.onError?(self, error)
      streams.finish(throwing: error)
    case .success(let change): tell(change)
    }
  }

  private func tell(_ change: StateChange) {
    let new = FetchedResults<Record>(state: change.new, indexTitle: indexTitle)
    let changes = FetchedRecordsChangeSet(
      change.changes, from: fetchedRecords, to: new, identity: identity)
    if changes.isEmpty { return core.show(change.new) }
    let generation = core.generation
    handlers.willChange?(self, change.alongside)
    // A handler that fetches has made the rest of this change a thing of the past; whoever was told
    // of its begin is told of its end.
    if core.generation == generation {
      core.show(change.new)
      for sectionChange in changes.sectionChanges { handlers.onSectionChange?(self, sectionChange) }
      if let onChange = handlers.onChange {
        for recordChange in changes.recordChanges {
          onChange(self, changes.record(of: recordChange), recordChange)
        }
      }
    }
    handlers.didChange?(self, change.alongside)
    guard core.generation == generation else { return }
    handlers.didChangeWith?(self, changes)
    streams.send(changes)
  }
}
