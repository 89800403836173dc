/// Tables of which an outline is kept, but not a digest of each row.
///
/// Which of their rows are the same as before is known nevertheless: all that are on leaves that were
/// not written. (Where an overflow page changed and not the leaf, the table is reported as a whole:
/// ``UnclaimedPages``.) So whoever shows some rows of a large table reads but few again.
extension ChangeReader {
  /// Tells which rows are on leaves that changed, or joined a table. O(r), r these rows.
  func tellPresentRows(
    of tables: Set<Int>, _ changed: ChangedPages, _ map: DatabaseMap,
    from snapshot: some DatabasePages, into report: inout ChangeReport
  ) throws(CaptureDoubt) {
    if tables.isEmpty { return }
    var rows: [Int: [Int64]] = [:]
    func read(_ page: UInt32) throws(CaptureDoubt) {
      guard let role = map.pages.role(of: page), role.isLeaf, tables.contains(role.tree) else {
        return
      }
      rows[role.tree, default: []] += try BTreePage(try snapshot.page(page)).rowIDs()
    }
    for page in changed { try read(page) }
    for page in map.pages.journal.keys where !changed.contains(page) { try read(page) }
    for (tree, rows) in rows { report.add(present: rows.sorted(), ofTree: tree) }
  }
}

extension DatabaseMap {
  /// The tables that are not followed, and of which there are outlines, by their trees.
  var outlinedTables: Set<Int> {
    if outlines.isEmpty { return [] }
    let tables = outlines.keys.compactMap { tree(of: schema.trees[$0].table) }
    return Set(tables.filter { followed[$0] == nil && pages.isTable[$0] })
  }
}

extension BTreePage {
  /// The keys of a table's leaf.
  fileprivate func rowIDs() throws(CaptureDoubt) -> [Int64] {
    guard kind == .leafTable else { throw .malformedPage }
    var rowIDs: [Int64] = []
    rowIDs.reserveCapacity(cellCount)
    for cell in 0..<cellCount { rowIDs.append(try rowID(ofCell: cell)) }
    return rowIDs
  }
}
