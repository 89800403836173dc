import GRDB

/// The usual look: the changed pages are known, and the schema is as it was.
extension ChangeReader {
  func follow(_ look: Look, _ map: DatabaseMap, in db: Database) throws -> DatabaseChanges {
    guard let header = look.header else { return try followScan(look, map, in: db) }
    guard case .log(let old) = map.position else { throw CaptureDoubt.otherLayout }
    if look.isExact { return try follow(look, map, from: old, to: header, in: db) }
    return try followCommits(look, header, from: earliestState(look, header, known: old), in: db)
  }

  /// Follows to a snapshot that is one of several, of which `start` is the first.
  ///
  /// A row that changed and changed back is different in between, where the snapshot may be. So
  /// each commit that it may end with is taken by itself.
  func followCommits(
    _ look: Look, _ header: WALIndexHeader, from start: WALIndexHeader, in db: Database
  ) throws -> DatabaseChanges {
    var wal = look.wal
    var changes = DatabaseChanges.nothing
    for state in [start] + (try wal.commits(after: start, upTo: header)) + [header] {
      guard let map, case .log(let reached) = map.position else { break }
      if state == reached { continue }
      var step = try follow(look, map, from: reached, to: state, in: db)
      if state != start {
        // Whether the snapshot has it is not certain.
        step.doubtGoneKeys()
        carried.formUnion(step)
      }
      changes.formUnion(step)
    }
    return changes
  }

  /// The earliest state of the log that an inexact snapshot may be.
  ///
  /// Where the log was begun anew meanwhile, it is the end of the old one, which is the beginning of
  /// the new one: nobody can begin it anew while a reader still needs a frame.
  func earliestState(
    _ look: Look, _ header: WALIndexHeader, known: WALIndexHeader?
  ) throws(CaptureDoubt) -> WALIndexHeader {
    if let state = look.before ?? known, state.salts == header.salts { return state }
    var wal = look.wal
    return try wal.beginning(of: header)
  }

  private func follow(
    _ look: Look, _ map: DatabaseMap, from old: WALIndexHeader, to header: WALIndexHeader,
    in db: Database
  ) throws -> DatabaseChanges {
    var look = look
    var changed = ChangedPages()
    if header.salts != old.salts { statistics.logRestarts += 1 }
    let isComplete = try look.wal.collect(from: old, to: header, into: &changed)
    statistics.lag = isComplete ? changed.count : Int(header.maxFrame)
    statistics.framesRead += changed.count
    if !isComplete {
      if !look.isExact, try !look.wal.index.isSameLog(as: header) {
        throw CaptureDoubt.snapshotUnknown
      }
      changed.removeAll()
    }
    let snapshot = try SnapshotPages(
      files: look.files, index: look.wal.index, header: header, isExact: look.isExact,
      changed: changed, fileHeader: map.layout, buffers: buffers)
    let former =
      isComplete && !map.isComplete
      ? try? FormerPages(at: old, seenFrom: header, look, of: map, buffers: buffers) : nil
    let changes =
      try isComplete
      ? follow(changed, map, look, from: snapshot, former, in: db)
      : rebuild(map, changed: nil, look, from: snapshot, in: db)
    // A rebuild has made another map.
    self.map?.position = .log(header)
    return changes
  }

  /// Brings the map up to date from the changed pages, and tells what that changed.
  ///
  /// The pages are now as in `snapshot`, and were as in `former`; nil: what they were is gone.
  func follow(
    _ changed: ChangedPages, _ map: DatabaseMap, _ look: Look, from snapshot: SnapshotPages,
    _ former: FormerPages? = nil, in db: Database
  ) throws -> DatabaseChanges {
    if changed.contains(1) {
      try snapshot.updateLayout()
      if snapshot.layout.schemaCookie != map.layout.schemaCookie {
        return try rebuild(map, changed: changed, look, from: snapshot, in: db)
      }
    }
    try map.pages.update(changed: changed, from: snapshot)
    let outlined = map.outlinedTables
    var report = ChangeReport(map, rowsOnLeavesOf: outlined)
    var unclaimed = UnclaimedPages()
    try compare(changed, map, from: snapshot, former, &unclaimed, into: &report)
    try tellPresentRows(of: outlined, changed, map, from: snapshot, into: &report)
    try report.claim(&unclaimed, changed, from: snapshot)
    updateOutlines(map, changed, from: snapshot)
    map.pages.finishUpdate()
    map.layout = snapshot.layout
    if report.tables[SchemaMap.schemaTable] != nil {
      // Written without a new cookie (PRAGMA writable_schema).
      let more = try rebuild(map, changed: changed, look, from: snapshot, in: db)
      report.merge(more)
    }
    return report.changes(&statistics)
  }

  /// Compares the leaves that changed, joined or left.
  private func compare(
    _ changed: ChangedPages, _ map: DatabaseMap, from snapshot: SnapshotPages,
    _ former: FormerPages?, _ unclaimed: inout UnclaimedPages, into report: inout ChangeReport
  ) throws(CaptureDoubt) {
    var diffs: [Int: CellDiff] = [:]
    for page in changed {
      recall(page, map, from: former, &diffs)
      if try !compare(page, map, from: snapshot, &diffs, into: &report) { unclaimed.insert(page) }
    }
    for page in map.pages.journal.keys where !changed.contains(page) {
      let (old, new) = (map.pages.oldRole(of: page), map.pages.role(of: page))
      guard old != new else { continue }
      recall(page, map, from: former, &diffs)
      _ = try compare(page, map, from: snapshot, &diffs, into: &report)
    }
    for (tree, digests) in map.followed.enumerated() {
      guard let digests, !digests.isTooLarge else { continue }
      let touched = digests.touchedRows(changed)
      guard !touched.isEmpty || diffs[tree] != nil else { continue }
      unclaimed.remove(ownedBy: digests)
      var diff = diffs[tree] ?? CellDiff()
      try conclude(&diff, of: digests, tree, touched, from: snapshot, into: &report)
      unclaimed.remove(ownedBy: digests)
    }
  }

  /// Reports the rows of a tree that its leaves and the touched overflow chains show to have changed.
  func conclude(
    _ diff: inout CellDiff, of digests: CellDigests, _ tree: Int, _ touched: [Int64],
    from snapshot: SnapshotPages, into report: inout ChangeReport
  ) throws(CaptureDoubt) {
    let rows = try digests.changedRows(
      &diff, touched: touched, digest: leafReader.digest, from: snapshot)
    statistics.pagesDiffed += diff.pages
    statistics.cellsDiffed += diff.cells
    if !digests.checkSize() {
      report.addWhole(tree: tree, .tooManyOverflowPages)
    } else if diff.lacksPages {
      report.addWhole(tree: tree, .notReadYet)
    } else {
      report.add(digests.changes(of: rows, diff), ofTree: tree)
    }
  }

  /// Reads what was on a page of a followed table whose turn to be read had not come.
  private func recall(
    _ page: UInt32, _ map: DatabaseMap, from former: FormerPages?, _ diffs: inout [Int: CellDiff]
  ) {
    guard let old = map.pages.oldRole(of: page), let digests = map.digests(old.tree),
      digests.lacks(page), map.pages.hasRows(old)
    else { return }
    if former?.read(page, into: digests, &leafReader) == true { return }
    diffs[old.tree, default: CellDiff()].noteLackOfPage()
  }

  /// - returns: false for a page that is in no b-tree and was in none.
  private func compare(
    _ page: UInt32, _ map: DatabaseMap, from snapshot: SnapshotPages,
    _ diffs: inout [Int: CellDiff],
    into report: inout ChangeReport
  ) throws(CaptureDoubt) -> Bool {
    let (old, new) = (map.pages.oldRole(of: page), map.pages.role(of: page))
    if let old, map.pages.hasRows(old),
      old.tree != new?.tree || new.map(map.pages.hasRows) == false,
      let digests = map.digests(old.tree)
    {
      digests.leafRemoved(page, diff: &diffs[old.tree, default: CellDiff()])
    }
    if let new, map.pages.hasRows(new), let digests = map.digests(new.tree) {
      try digests.leafRead(
        try snapshot.page(page), reader: &leafReader, diff: &diffs[new.tree, default: CellDiff()])
    }
    if let old { report.touch(tree: old.tree) }
    if let new, new.tree != old?.tree { report.touch(tree: new.tree) }
    return old != nil || new != nil
  }
}
