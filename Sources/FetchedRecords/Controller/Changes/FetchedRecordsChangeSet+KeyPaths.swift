extension FetchedRecordsController {
  /// As ``changeSets``, but for updates that change none of these properties: they are left out, and
  /// a change set of which nothing is left does not come.
  ///
  /// ```swift
  /// for try await changes in controller.changeSets(of: \.name, \.score) { … }
  /// ```
  ///
  /// What is inserted, deleted or moved is told whatever changed, so the change sets still turn the
  /// list that is shown into the next one. An update costs the decoding of two records.
  ///
  /// - Parameter keyPaths: the properties that are shown.
  /// - Returns: the present state, and the change sets from now on.
  public func changeSets<each Property: Equatable & SendableMetatype>(
    of keyPaths: repeat any KeyPath<Record, each Property> & Sendable
  ) -> FetchedRecordsChangeSets<Record> {
    var changeSets = changeSets
    changeSets.isTold = { old, new in
      for isSame in repeat old[keyPath: each keyPaths] == new[keyPath: each keyPaths] {
        if !isSame { return true }
      }
      return false
    }
    return changeSets
  }
}

extension FetchedRecordsChangeSet {
  /// Without updates that are not worth telling.
  func withUpdates(where isTold: (Record, Record) -> Bool) -> FetchedRecordsChangeSet {
    if isReset { return self }
    let changes = recordChanges.filter { change in
      guard case .update(let path, _) = change else { return true }
      return isTold(old.record(at: path), new.record(at: path))
    }
    return FetchedRecordsChangeSet(
      sectionChanges: sectionChanges, recordChanges: changes, old: old, new: new, isReset: false)
  }
}
