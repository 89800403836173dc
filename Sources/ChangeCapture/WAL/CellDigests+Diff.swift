import Hashing
import OrderedResults

/// Finding the changed rows of a table from its changed leaves: old cells minus new cells, and new
/// minus old.
///
/// A row whose cell is the same but lies on another leaf (a split, a merge, a page that moved) is
/// taken away on one leaf and added on another, and cancels out. What is left was inserted, deleted
/// or updated.
struct CellDiff {
  private var removed: [CellDigest] = []
  private var added: [CellDigest] = []
  private(set) var overflowRows: [LeafReader.OverflowRow] = []
  private(set) var pages = 0
  private(set) var cells = 0
  /// Whether there was a page of which it is not known what was on it.
  private(set) var lacksPages = false
  /// By number, of the rows without rowid that there are.
  private(set) var keys: [Int64: [Value]] = [:]

  mutating func noteLackOfPage() { lacksPages = true }

  mutating func leafRemoved(_ old: LeafCells) {
    pages += 1
    removed += old
  }

  /// Compares a leaf with what it was. Both are in the order of their rowids: O(m), m their rows.
  mutating func leafRead(_ reader: LeafReader, old: LeafCells?) {
    pages += 1
    cells += reader.cells.count
    if !reader.overflowRows.isEmpty { overflowRows += reader.overflowRows }
    guard let old else { return added.append(contentsOf: reader.cells) }
    var (before, after) = (0, 0)
    while before < old.count, after < reader.cells.count {
      let (gone, new) = (old[before], reader.cells[after])
      if gone.rowid == new.rowid {
        if gone.digest != new.digest {
          removed.append(gone)
          added.append(new)
        }
        before += 1
        after += 1
      } else if gone.rowid < new.rowid {
        removed.append(gone)
        before += 1
      } else {
        added.append(new)
        after += 1
      }
    }
    // Mostly there is nothing, and even that takes a quarter of a microsecond.
    if before < old.count { removed += old[before...] }
    if after < reader.cells.count { added += reader.cells[after...] }
  }

  /// The same for a page of a table WITHOUT ROWID. O(m log m).
  mutating func pageRead(
    _ reader: LeafReader, _ image: PageImage, old: LeafCells?, by key: TableKey
  ) throws(CaptureDoubt) {
    let known = added.count
    leafRead(reader, old: old)
    let new = try reader.keys(of: added[known...], in: image, by: key)
    keys.merge(new) { $1 }
  }

  /// The rowids of all rows that changed, ascending, each once. O(k log k), k such cells.
  mutating func changedRows() -> [Int64] {
    if pages > 1 {
      removed.sort()
      added.sort()
    }
    var rows: [Int64] = []
    var (before, after) = (0, 0)
    func report(_ rowid: Int64) { if rows.last != rowid { rows.append(rowid) } }
    while before < removed.count, after < added.count {
      if removed[before] == added[after] {
        before += 1
        after += 1
      } else if removed[before] < added[after] {
        report(removed[before].rowid)
        before += 1
      } else {
        report(added[after].rowid)
        after += 1
      }
    }
    for rest in [removed[before...], added[after...]] {
      for cell in rest { report(cell.rowid) }
    }
    return rows
  }
}

extension CellDigests {
  /// The rows that have one of the pages in their overflow chains.
  func touchedRows(_ changed: ChangedPages) -> [Int64] {
    guard !overflow.isEmpty else { return [] }
    return changed.compactMap(overflow.owner)
  }

  /// Takes over what was on a page, before it is compared with what there is now.
  func recall(_ former: PageImage, _ reader: inout LeafReader) throws(CaptureDoubt) {
    try read(former, &reader)
    if !isTooLarge { leaves[former.number] = reader.leaf }
  }

  /// Reads a leaf that changed or joined the table.
  func leafRead(
    _ image: PageImage, reader: inout LeafReader, diff: inout CellDiff
  ) throws(CaptureDoubt) {
    guard !isTooLarge else { return }
    try read(image, &reader)
    guard !isTooLarge else { return }
    let old = leaves.updateValue(reader.leaf, forKey: image.number)
    guard let key else { return diff.leafRead(reader, old: old) }
    try diff.pageRead(reader, image, old: old, by: key)
  }

  /// Forgets a leaf that left the table.
  func leafRemoved(_ page: UInt32, diff: inout CellDiff) {
    guard let old = leaves.removeValue(forKey: page) else { return }
    diff.leafRemoved(old)
  }

  /// The rows that changed, with those whose overflow pages did; `touched` are the rows that have
  /// pages among the changed ones in their chains.
  func changedRows(
    _ diff: inout CellDiff, touched: [Int64], digest: KeyedHash, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> [Int64] {
    let rows = diff.changedRows()
    if overflow.isEmpty, diff.overflowRows.isEmpty { return rows }
    for rowid in rows { overflow.remove(rowid) }
    var waiting = Set(touched)
    var changed: [Int64] = []
    for row in diff.overflowRows {
      let isTouched = waiting.remove(row.rowid) != nil
      if !isTouched, overflow.chains[row.rowid]?.head == row.head { continue }
      if try overflow.read(row, digest: digest, from: snapshot) {
        changed.append(row.rowid)
      }
    }
    for rowid in waiting {
      // Its leaf is as it was, so the chain still begins where it did.
      guard let chain = overflow.chains[rowid] else { continue }
      let row = LeafReader.OverflowRow(rowid: rowid, head: chain.head, key: chain.key)
      if try overflow.read(row, digest: digest, from: snapshot) { changed.append(rowid) }
    }
    if changed.isEmpty { return rows }
    return RowIDs.union(rows, Set(changed).sorted())
  }

  /// What to report of rows that changed.
  func changes(of rows: [Int64], _ diff: CellDiff) -> TableChanges {
    guard key != nil else { return .rows(rows) }
    let keys = rows.map { ($0, diff.keys[$0] ?? overflow.chains[$0]?.key ?? []) }
    return .keys(ChangedKeys(Dictionary(keys) { $1 }))
  }
}
