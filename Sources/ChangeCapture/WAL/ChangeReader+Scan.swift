import GRDB

/// Databases without a log: all pages are read and compared by digests.
///
/// A rollback journal keeps what was there before a commit, and is gone after it. What is left is
/// the file; the transaction's shared lock keeps it as it is while it is read.
extension ChangeReader {
  func followScan(_ look: Look, _ map: DatabaseMap, in db: Database) throws -> DatabaseChanges {
    guard case .file = map.position else { throw CaptureDoubt.otherLayout }
    let snapshot = try SnapshotPages(
      files: look.files, index: look.wal.index, header: nil, isExact: true,
      changed: ChangedPages(), fileHeader: nil, buffers: buffers)
    guard snapshot.layout.hasSameLayout(as: map.layout) else { throw CaptureDoubt.otherLayout }
    guard snapshot.pageCount <= settings.scanLimit else { throw CaptureDoubt.tooLargeToScan }
    let changed = try scan(map, from: snapshot)
    let changes = try follow(changed, map, look, from: snapshot, in: db)
    // A rebuild has made another map.
    self.map?.position = .file(snapshot.layout.version)
    return changes
  }

  /// The pages whose digests differ from those at the last scan. O(b), b the file's bytes.
  func scan(_ map: DatabaseMap, from snapshot: SnapshotPages) throws(CaptureDoubt) -> ChangedPages {
    let count = Int(snapshot.pageCount)
    guard count > 0 else { throw .unknownFormat }
    if map.pageDigests.count > count { map.pageDigests.removeSubrange(count...) }
    map.pageDigests.append(contentsOf: repeatElement(0, count: count - map.pageDigests.count))
    var changed = ChangedPages()
    let reader = leafReader
    try snapshot.forEachPage(Array(1...snapshot.pageCount)) { image throws(CaptureDoubt) in
      let digest = try reader.pageDigest(of: image)
      guard map.pageDigests[Int(image.number) - 1] != digest else { return }
      map.pageDigests[Int(image.number) - 1] = digest
      changed.append(page: image.number, frame: 0)
    }
    changed.finish()
    return changed
  }
}
