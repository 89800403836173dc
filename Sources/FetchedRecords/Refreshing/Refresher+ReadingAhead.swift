import ChangeCapture
import GRDB

// What is found out before it is needed, a little at a time behind whatever waits for the queue: what
// queries are under a schema that has changed, outlines of large tables and indexes
// (`Refresher+Outlines.swift`), and then the rows of the tables that are followed, of which ten million
// take a second.
extension Refresher {
  /// So many pages of an index are read at a time: some 0.5 ms.
  private static let indexPagesAtOnce = 1024
  /// So many pages with rows: some 0.5 ms.
  private static let tablePagesAtOnce = 256

  /// Reads on when the queue has nothing else to do.
  func readAheadSoon() {
    guard !isReadingAhead, !isStopped, hasMoreToRead else { return }
    isReadingAhead = true
    access.async { [self] in
      isReadingAhead = false
      if isStopped { return }
      // The end of the transaction reads on; after a failure, that of the next one.
      let result = attempt(notesLog: false) { try readAhead(in: $0.db) }
      if case .failure = result {
        goOnWithOutlines()
        // It may have found that some are behind.
        if !line.isEmpty { scheduleRetry() }
      }
    }
  }

  private var hasMoreToRead: Bool {
    catalog.nextOutdated != nil || !outlinesToRead.isEmpty
      || finder?.hasUnreadRows == true && vainReading != commit
  }

  private func readAhead(in db: Database) throws {
    if let name = catalog.nextOutdated {
      try catalog.bringUpToDate(name, in: db)
      if catalog.nextOutdated == nil { planOutlines() }
    } else if let tree = outlinesToRead.last {
      try readOutline(tree, atMost: Self.indexPagesAtOnce, in: db)
    } else {
      let isRead = try changeFinder().readRowsAhead(atMost: Self.tablePagesAtOnce, in: db)
      vainReading = isRead ? nil : commit
    }
  }
}
