/// The pages as they were at an earlier commit, as far as they still are where they were then.
///
/// The log keeps earlier frames of a page until it is begun anew, and the database file has what was
/// before the first of them until a checkpoint copies a later one over it. So a page is what it was if
/// after the read the log is still the same, and no checkpoint has begun to copy frames of later commits
/// (`nBackfillAttempted`, https://www.sqlite.org/walformat.html#the_wal_index_header; writers older than
/// SQLite 3.10 do not tell of it before they have).
final class FormerPages {
  private let pages: SnapshotPages
  private let header: WALIndexHeader
  private var index: WALIndex

  /// The pages at the state `then` of the log, of which `map` is; all commits up to `now` are known, the
  /// state that is looked at. The transaction of the look keeps the log as it is.
  init(
    at then: WALIndexHeader, seenFrom now: WALIndexHeader, _ look: ChangeReader.Look,
    of map: DatabaseMap, buffers: PageBuffers
  ) throws(CaptureDoubt) {
    // A log that was begun anew since has all that is new, so the file was all that had been.
    header = now.salts == then.salts ? then : now.cut(after: 0, pageCount: 0, commits: 0)
    index = look.wal.index
    pages = try SnapshotPages(
      files: look.files, index: index, header: header, isExact: false, changed: ChangedPages(),
      fileHeader: map.layout, buffers: buffers)
  }

  /// Reads the rows that were on a page of a table. O(b), b the bytes of the page.
  ///
  /// - Returns: false where that is not known any more.
  func read(_ page: UInt32, into digests: CellDigests, _ reader: inout LeafReader) -> Bool {
    do {
      let image = try pages.page(page)
      // Not to be taken apart before: it may be half of one and half of the other.
      let progress = try index.checkpointProgress()
      guard max(progress.copied, progress.attempted) <= header.maxFrame,
        try index.isSameLog(as: header)
      else { return false }
      try digests.recall(image, &reader)
      return true
    } catch {
      return false
    }
  }
}
