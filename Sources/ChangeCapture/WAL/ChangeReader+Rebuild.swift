import GRDB

/// The look after which nothing of the map's shape is taken for granted: the schema has changed, or
/// pages were written of which the log no longer tells.
///
/// The map is made anew from the interior pages. The rows of followed tables are kept: a leaf that
/// is in the old and the new b-tree of a table is read again only if it is among the changed pages
/// or, where these are not known, if its digest differs. Of tables not all of which had been
/// read, reading begins anew.
extension ChangeReader {
  /// Makes the map anew, and tells what changed; `changed` nil: any page may have.
  func rebuild(
    _ old: DatabaseMap, changed: ChangedPages?, _ look: Look, from snapshot: SnapshotPages,
    in db: Database
  ) throws -> DatabaseChanges {
    try snapshot.updateLayout()
    let isSameCookie = snapshot.layout.schemaCookie == old.layout.schemaCookie
    let isReadable = try isSchemaReadable(look, snapshot.layout, in: db)
    guard isSameCookie || isReadable else { throw CaptureDoubt.snapshotUnknown }
    let schema = isReadable ? try SchemaMap(in: db) : old.schema
    let new = DatabaseMap(
      position: old.position, layout: snapshot.layout, schema: schema,
      pages: try BTreePages(roots: schema.trees.map(\.root), from: snapshot), tables: followed)
    new.pageDigests = old.pageDigests

    var report = ChangeReport(new)
    if schema != old.schema || !isSameCookie {
      report.changedSchema()
      for name in schema.tablesThatDiffer(from: old.schema) {
        report.addWhole(followed.spelling(name), .schema)
      }
    }
    reportTouched(old, new, changed, into: &report)
    var unclaimed = unclaimedPages(old, new, changed)
    for (tree, entry) in schema.trees.enumerated() where !entry.isIndex {
      try move(tree, old, new, changed, from: snapshot, into: &report)
      if let digests = new.followed[tree] { unclaimed.remove(ownedBy: digests) }
    }
    if let changed { try report.claim(&unclaimed, changed, from: snapshot) }
    // Tables that are to be followed and were not there are new, and reported so.
    try follow(in: new, from: snapshot)
    loadOutlines(new, known: old, changed, from: snapshot)
    map = new
    return report.changes(&statistics)
  }

  /// Names the tables that are not followed and whose pages may have changed.
  private func reportTouched(
    _ old: DatabaseMap, _ new: DatabaseMap, _ changed: ChangedPages?,
    into report: inout ChangeReport
  ) {
    var trees: Set<String> = []
    if let changed {
      for page in changed {
        for (map, role) in [
          (old, old.pages.oldRole(of: page)), (new, new.pages.role(of: page)),
        ] {
          guard let role, !map.schema.trees[role.tree].isIndex else { continue }
          trees.insert(map.schema.trees[role.tree].table)
        }
      }
    }
    for (tree, entry) in new.schema.trees.enumerated() where !entry.isIndex && tree > 0 {
      let wasFollowed = old.tree(of: entry.table).flatMap { old.completeDigests($0) } != nil
      if wasFollowed { continue }
      if changed == nil {
        report.addWhole(tree: tree, .logLost)
      } else if trees.contains(entry.table) {
        report.touch(tree: tree)
      }
    }
  }

  /// The changed pages that are in no b-tree, were in none, and belonged to no followed table.
  private func unclaimedPages(
    _ old: DatabaseMap, _ new: DatabaseMap, _ changed: ChangedPages?
  ) -> UnclaimedPages {
    var pages = UnclaimedPages()
    // Where they are not known, all tables are reported that are not followed.
    guard let changed else { return pages }
    for page in changed {
      if old.pages.oldRole(of: page) == nil, new.pages.role(of: page) == nil { pages.insert(page) }
    }
    // Of a table not all of which had been read, nothing is compared.
    for tree in old.followed.indices {
      if let digests = old.completeDigests(tree) { pages.remove(ownedBy: digests) }
    }
    return pages
  }

  /// Takes the digests of a followed table over into the new map, brought up to date.
  private func move(
    _ tree: Int, _ old: DatabaseMap, _ new: DatabaseMap, _ changed: ChangedPages?,
    from snapshot: SnapshotPages, into report: inout ChangeReport
  ) throws(CaptureDoubt) {
    let entry = new.schema.trees[tree]
    guard let oldTree = old.tree(of: entry.table), let digests = old.completeDigests(oldTree),
      digests.key == entry.key, new.pages.isTable[tree] != (entry.key != nil)
    else { return }
    var diff = CellDiff()
    if let changed {
      let pages = changed.filter { new.pages.hasRows($0, of: tree) }
      let others = new.pages.pagesWithRows(
        of: tree, root: entry.root, missingIn: old.pages, as: oldTree)
      for page in pages + others.filter({ digests.leaves[$0] == nil && !changed.contains($0) }) {
        try digests.leafRead(try snapshot.page(page), reader: &leafReader, diff: &diff)
      }
    } else {
      try compareEach(
        new.pages.pagesWithRows(of: tree, root: entry.root), digests, from: snapshot, &diff)
    }
    let count = new.pages.numberOfPagesWithRows(of: tree, root: entry.root)
    if digests.leaves.count > count {
      for page in digests.leaves.keys.filter({ !new.pages.hasRows($0, of: tree) }) {
        digests.leafRemoved(page, diff: &diff)
      }
    }
    let touched =
      if let changed { digests.touchedRows(changed) } else { Array(digests.overflow.chains.keys) }
    new.followed[tree] = digests
    try conclude(&diff, of: digests, tree, touched, from: snapshot, into: &report)
  }

  /// Reads all pages of a table that are not as they were.
  private func compareEach(
    _ leaves: [UInt32], _ digests: CellDigests, from snapshot: SnapshotPages,
    _ diff: inout CellDiff
  ) throws(CaptureDoubt) {
    var (reader, compared) = (leafReader, diff)
    try snapshot.forEachPage(leaves) { image throws(CaptureDoubt) in
      if let known = digests.leaves[image.number],
        try reader.pageDigest(of: image) == known.pageDigest
      {
        return
      }
      try digests.leafRead(image, reader: &reader, diff: &compared)
    }
    (leafReader, diff) = (reader, compared)
  }
}
