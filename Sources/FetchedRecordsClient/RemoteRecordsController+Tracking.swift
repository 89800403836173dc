extension RemoteRecordsController {
  /// What is called when something happens.
  struct Handlers {
    var willChange: ((RemoteRecordsController) -> Void)?
    var onSectionChange: ((RemoteRecordsController, RemoteSectionChange) -> Void)?
    var onChange: ((RemoteRecordsController, Record, RemoteRecordChange) -> Void)?
    var didChange: ((RemoteRecordsController) -> Void)?
    var didChangeWith: ((RemoteRecordsController, RemoteRecordsChangeSet<Record>) -> Void)?
    var didReset: ((RemoteRecordsController) -> Void)?
    var onError: ((RemoteRecordsController, RemoteRecordsError) -> Void)?

    /// Tells of a change set, in the middle of which the controller comes to show the new records.
    @MainActor
    func tell(
      _ changes: RemoteRecordsChangeSet<Record>, of controller: RemoteRecordsController,
      _ show: () -> Void
    ) {
      if changes.isReset {
        show()
        didReset?(controller)
      } else {
        willChange?(controller)
        show()
        for change in changes.sectionChanges { onSectionChange?(controller, change) }
        if let onChange {
          for change in changes.recordChanges {
            onChange(controller, changes.record(of: change), change)
          }
        }
        didChange?(controller)
      }
      didChangeWith?(controller, changes)
    }
  }

  /// Tells of changes from now on, on the main actor.
  ///
  /// Each call replaces what an earlier one asked for. The first records, and those of a server that
  /// does not know what came before, are told by ``trackResets(_:)``.
  ///
  /// - Parameters:
  ///   - willChange: called first, while the controller still shows the old records.
  ///   - onSectionChange: called for each section that went (from the highest) or came (from the
  ///     lowest), before any record change.
  ///   - onChange: called for each record that changed, with the old record for a deletion and the
  ///     new one otherwise.
  ///   - didChange: called last. Write `didChange: nil` where there is none.
  public func trackChanges(
    willChange: ((RemoteRecordsController<Record>) -> Void)? = nil,
    onSectionChange: ((RemoteRecordsController<Record>, RemoteSectionChange) -> Void)? = nil,
    onChange: ((RemoteRecordsController<Record>, Record, RemoteRecordChange) -> Void)? = nil,
    didChange: ((RemoteRecordsController<Record>) -> Void)?
  ) {
    handlers.willChange = willChange
    handlers.onSectionChange = onSectionChange
    handlers.onChange = onChange
    handlers.didChange = didChange
    start()
  }

  /// Calls back when everything is to be read anew: reload what shows the records.
  public func trackResets(_ handler: @escaping (RemoteRecordsController<Record>) -> Void) {
    handlers.didReset = handler
    start()
  }

  /// Calls back with each change as a whole, resets too, after all other handlers: for a list that is
  /// shown by snapshots.
  ///
  /// - Parameter handler: nil: nobody is called any more.
  public func didChange(
    with handler: ((RemoteRecordsController<Record>, RemoteRecordsChangeSet<Record>) -> Void)?
  ) {
    handlers.didChangeWith = handler
    start()
  }

  /// Calls back when something is wrong: once, until it is over.
  public func trackErrors(
    _ handler: @escaping (RemoteRecordsController<Record>, RemoteRecordsError) -> Void
  ) {
    handlers.onError = handler
    start()
  }
}
