package import GRDB

/// Reading what the map should hold.
extension ChangeReader {
  /// Makes a map of the database as it is.
  func load(_ look: Look, in db: Database) throws -> DatabaseMap {
    isMapDue = false
    isLoadPending = false
    let header =
      if let header = look.header, !look.isExact {
        try earliestState(look, header, known: nil)
      } else { look.header }
    let snapshot = try SnapshotPages(
      files: look.files, index: look.wal.index, header: header, isExact: look.isExact,
      changed: ChangedPages(), fileHeader: nil, buffers: buffers)
    try snapshot.updateLayout()
    guard try isSchemaReadable(look, snapshot.layout, in: db) else {
      throw CaptureDoubt.snapshotUnknown
    }
    let position: DatabaseMap.Position =
      if let header { .log(header) } else { .file(snapshot.layout.version) }
    if case .file = position, snapshot.pageCount > settings.scanLimit {
      throw CaptureDoubt.tooLargeToScan
    }
    let schema = try SchemaMap(in: db)
    let map = DatabaseMap(
      position: position, layout: snapshot.layout, schema: schema,
      pages: try BTreePages(roots: schema.trees.map(\.root), from: snapshot), tables: followed)
    try follow(in: map, from: snapshot)
    loadOutlines(map, from: snapshot)
    if case .file = position { _ = try scan(map, from: snapshot) }
    return map
  }

  /// Whether SQL, which shows the snapshot, shows the schema of the pages that are read.
  func isSchemaReadable(_ look: Look, _ layout: FileHeader, in db: Database) throws -> Bool {
    if look.isExact { return true }
    let cookie = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    return cookie.map { UInt32(truncatingIfNeeded: $0) } == layout.schemaCookie
  }

  /// Loads tables that the owner has just begun to follow, if the transaction still shows what the
  /// map is of; else the next look does.
  func loadFollowedTables(in db: Database) throws {
    do {
      guard let look = try lookOfMap(in: db) else { return }
      try loadFollowedTables(look)
    } catch let doubt as CaptureDoubt {
      map = nil
      statistics.count(doubt.rawValue)
    }
  }

  /// The look that the map is of, if the transaction still shows that.
  func lookOfMap(in db: Database) throws -> Look? {
    guard let map, let connection = db.sqliteConnection, try touch(db) else { return nil }
    let files = try DatabaseFiles(of: connection)
    var look = Look(files: files, wal: WALReader(files, buffers: buffers))
    if case .log(let header) = map.position {
      look.header = header
      if carried.isNothing { look.before = header }
    }
    return look
  }

  /// The pages that a map is of.
  func snapshot(_ look: Look, of map: DatabaseMap) throws(CaptureDoubt) -> SnapshotPages {
    try SnapshotPages(
      files: look.files, index: look.wal.index, header: look.header, isExact: look.isExact,
      changed: ChangedPages(), fileHeader: map.layout, buffers: buffers)
  }

  func loadFollowedTables(_ look: Look) throws(CaptureDoubt) {
    guard let map else { return }
    let snapshot = try snapshot(look, of: map)
    try follow(in: map, from: snapshot)
    isLoadPending = false
    loadOutlines(map, from: snapshot)
  }

  /// Lets a map follow the tables that are to be followed.
  func follow(in map: DatabaseMap, from snapshot: some DatabasePages) throws(CaptureDoubt) {
    try map.follow(
      followed, readingAtOnce: settings.pagesAtOnce, reader: &leafReader, from: snapshot)
  }

  /// Whether there are rows that are followed and not read yet.
  package var hasUnreadRows: Bool { map?.isComplete == false }

  /// Reads some of the rows that are followed and not read yet.
  ///
  /// Within the transaction in which ``changes(in:)`` was called. O(p), p as many pages as are asked
  /// for, and the overflow pages of a few of them.
  ///
  /// - Returns: whether any could be read.
  package func readRowsAhead(atMost pages: Int, in db: Database) throws -> Bool {
    guard let map, !map.isComplete else { return false }
    do {
      guard let look = try lookOfMap(in: db) else { return false }
      try map.readRowsAhead(atMost: pages, reader: &leafReader, from: try snapshot(look, of: map))
      return true
    } catch let doubt as CaptureDoubt {
      self.map = nil
      statistics.count(doubt.rawValue)
      return false
    }
  }
}
