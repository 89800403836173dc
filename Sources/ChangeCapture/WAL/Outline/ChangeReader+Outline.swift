package import GRDB
import GRDBSQLite

/// Where the entries of b-trees are: which one is the n-th, and how many there are.
///
/// SQLite walks to the n-th entry from the first. Here the number of entries on each page is kept
/// (``EntryCounts``), and from each commit on brought up to date from the pages that it wrote.
///
/// Answers are exactly of the snapshot that the transaction sees, or nil where that is not certain:
/// - There is no transaction, or it is of another connection than that of the last ``changes(in:)``,
///   or sees a commit that `changes(in:)` has not told.
/// - A commit fell into the moment in which `changes(in:)` took the snapshot, or other statements
///   had taken it before, or the connection had never read before.
/// - The file is not understood.
///
/// With the next transaction answers are there again by themselves: the outlines are of all that
/// was asked for last, and are loaded again with the map where that was in doubt.
extension ChangeReader {
  /// Keeps the outlines of these b-trees from now on, and no others.
  ///
  /// Within the transaction in which ``changes(in:)`` was called. O(p), p the pages of the new
  /// b-trees, each of which is read; ``entryCount(of:in:)`` tells whether it succeeded.
  package func outline(_ trees: Set<OutlinedTree>, in db: Database) throws {
    outlined = Set(trees.map(\.folded))
    guard let map else { return }
    let kept = Set(outlined.compactMap(map.tree))
    map.outlines = map.outlines.filter { kept.contains($0.key) }
    guard kept.count > map.outlines.count else { return }
    isLoadPending = true
    try loadFollowedTables(in: db)
  }

  /// The number of entries of a b-tree; nil: not known. O(1).
  package func entryCount(of tree: OutlinedTree, in db: Database) throws -> Int? {
    try currentOutline(of: tree, in: db)?.total
  }

  /// The rowids of the entries at those of the offsets that there are, in the order of the b-tree;
  /// nil: not known.
  ///
  /// O(h · k + e), h the b-tree's height, k the children of an interior page, e the entries in the
  /// range. It reads the pages that these are on.
  package func rowIDs(
    of tree: OutlinedTree, at range: Range<Int>, in db: Database
  ) throws -> [Int64]? {
    guard let map, let outline = try currentOutline(of: tree, in: db),
      let connection = db.sqliteConnection
    else { return nil }
    do {
      let files = try DatabaseFiles(of: connection)
      var header: WALIndexHeader?
      if case .log(let position) = map.position { header = position }
      guard files.hasJournal == (header != nil) else { throw CaptureDoubt.otherLayout }
      let snapshot = try SnapshotPages(
        files: files, index: WALIndex(files), header: header, isExact: true,
        changed: ChangedPages(), fileHeader: map.layout, buffers: buffers)
      return try outline.rowIDs(at: range, from: snapshot)
    } catch let doubt as CaptureDoubt {
      statistics.count(doubt.rawValue)
      return nil
    }
  }

  /// The outline, where it is of the snapshot that the transaction sees.
  private func currentOutline(
    of tree: OutlinedTree, in db: Database
  ) throws -> EntryCounts? {
    guard let map, let connection = db.sqliteConnection, connection == exactConnection,
      let outline = map.tree(tree).flatMap({ map.outlines[$0] }),
      sqlite3_txn_state(connection, "main") == SQLITE_TXN_READ,
      try db.dataVersion() == version
    else { return nil }
    return outline
  }

  /// Loads the outlines that are to be kept and are not there. Of the pages that were not among the
  /// changed ones, the counts of an older map hold.
  ///
  /// A doubt about a b-tree leaves its outline out, until the map is made anew or the outline asked
  /// for again.
  func loadOutlines(
    _ map: DatabaseMap, known old: DatabaseMap? = nil, _ changed: ChangedPages? = nil,
    from snapshot: some DatabasePages
  ) {
    for name in outlined {
      guard let tree = map.tree(name), map.outlines[tree] == nil else { continue }
      let root = map.schema.trees[tree].root
      var known = map.ahead.removeValue(forKey: tree)?.counts ?? [:]
      if let changed, let outline = old?.tree(name).flatMap({ old?.outlines[$0] }) {
        if let same = outline.moved(to: tree, root: root, in: map.pages, changed: changed) {
          map.outlines[tree] = same
          continue
        }
        known = outline.counts.filter { !changed.contains($0.key) }
      }
      do {
        map.outlines[tree] = try EntryCounts(
          of: tree, root: root, in: map.pages, known: known, from: snapshot)
      } catch { statistics.count(error.rawValue) }
    }
  }

  /// Brings the outlines up to date. One that is in doubt is loaded again at the next look.
  func updateOutlines(
    _ map: DatabaseMap, _ changed: ChangedPages, from snapshot: some DatabasePages
  ) {
    for tree in Array(map.ahead.keys) { map.ahead[tree]?.forget(changed) }
    // A list of its own, so that the dictionary is not copied when it changes.
    for tree in Array(map.outlines.keys) {
      do {
        try map.outlines[tree]?.update(changed: changed, in: map.pages, from: snapshot)
      } catch {
        statistics.count(error.rawValue)
        map.outlines[tree] = nil
        isLoadPending = true
      }
    }
  }
}
