import GRDB

/// Reading what the map should hold.
extension ChangeReader {
  /// Makes a map of the database as it is.
  func load(_ look: Look, in db: Database) throws -> DatabaseMap {
    guard look.isExact else { throw CaptureDoubt.snapshotUnknown }
    isMapDue = false
    isLoadPending = false
    let source = try SnapshotPages(
      files: look.files, index: look.wal.index, header: look.header, isExact: true,
      changed: ChangedPages(), fileHeader: nil, buffers: buffers)
    try source.updateLayout()
    let position: DatabaseMap.Position =
      if let header = look.header { .log(header) } else { .file(source.layout.version) }
    if case .file = position, source.pageCount > settings.scanLimit {
      throw CaptureDoubt.tooLargeToScan
    }
    let schema = try SchemaMap(in: db)
    let map = DatabaseMap(
      position: position, layout: source.layout, schema: schema,
      pages: try BTreePages(roots: schema.trees.map(\.root), from: source), tables: followed)
    try map.follow(followed, reader: &leafReader, from: source)
    if case .file = position { _ = try scan(map, from: source) }
    return map
  }

  /// Loads tables that the owner has just begun to follow, if the transaction still shows what the
  /// map is of; else the next look does.
  func loadFollowedTables(in db: Database) throws {
    do {
      guard let map, let connection = db.sqliteConnection, try touch(db) else { return }
      let files = try DatabaseFiles(of: connection)
      var look = Look(
        files: files, wal: WALReader(files, buffers: buffers), header: nil,
        isExact: carried.isNothing)
      if case .log(let header) = map.position { look.header = header }
      try loadFollowedTables(look)
    } catch let doubt as CaptureDoubt {
      map = nil
      statistics.count(doubt.rawValue)
    }
  }

  func loadFollowedTables(_ look: Look) throws(CaptureDoubt) {
    guard let map else { return }
    let source = try SnapshotPages(
      files: look.files, index: look.wal.index, header: look.header, isExact: look.isExact,
      changed: ChangedPages(), fileHeader: map.layout, buffers: buffers)
    try map.follow(followed, reader: &leafReader, from: source)
    isLoadPending = false
  }
}
