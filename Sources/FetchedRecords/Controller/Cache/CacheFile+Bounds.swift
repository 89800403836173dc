import Foundation

// A client can ask for any number of sets of arguments, each of which leaves a file.
extension CacheFile {
  /// Sets of arguments that are kept of one query: some thousand streams that come back after a
  /// restart mostly watch few of them.
  static let maximumCount = 64
  /// Bytes that they may take together; the newest one is kept whatever its size.
  static let maximumBytes = 64 << 20

  /// Deletes the oldest files of the same query that are beyond the bounds, but not this one.
  ///
  /// O(f log f), f files of the database's folder. Nothing where the query has no arguments.
  func deleteOldest(maximumCount: Int = maximumCount, maximumBytes: Int = maximumBytes) {
    guard let family else { return }
    let keys: Set<URLResourceKey> = [.contentModificationDateKey, .fileSizeKey]
    let own = url.lastPathComponent
    let folder = url.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let files = names.filter { $0.hasPrefix(family) }.compactMap { name -> Sibling? in
      let url = folder.appendingPathComponent(name)
      guard let values = try? url.resourceValues(forKeys: keys),
        let date = values.contentModificationDate, let size = values.fileSize
      else { return nil }
      return Sibling(url: url, isOwn: name == own, date: date, size: size)
    }
    var count = 0
    var bytes = 0
    for file in files.sorted(by: { ($0.isOwn ? 1 : 0, $0.date) > ($1.isOwn ? 1 : 0, $1.date) }) {
      count += 1
      bytes += file.size
      if !file.isOwn, count > maximumCount || bytes > maximumBytes {
        try? FileManager.default.removeItem(at: file.url)
      }
    }
  }
}

/// A file with results of the same query.
private struct Sibling {
  let url: URL
  let isOwn: Bool
  let date: Date
  let size: Int
}
