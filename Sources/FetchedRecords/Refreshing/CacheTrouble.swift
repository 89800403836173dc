import Foundation

/// Caches that cannot be written: for people who should make room, not for clients.
///
/// A full disk fails every write of every cache, and one line says it all.
struct CacheTrouble {
  /// The first file that could not be written, and when that was last told.
  private var first: (file: URL, told: ContinuousClock.Instant)?

  /// How long one line lasts.
  static let silence = Duration.seconds(600)

  /// A file was written, or not; returns what is worth telling.
  mutating func note(
    _ result: Result<Void, CacheFile.WriteError>, of file: URL, at now: ContinuousClock.Instant
  ) -> RefresherMessage? {
    switch result {
    case .success:
      // Another file may be smaller, and tells nothing about this one.
      guard first?.file == file else { return nil }
      first = nil
      return .cacheWrittenAgain
    case .failure(let error):
      if let first, now - first.told < Self.silence { return nil }
      first = (file, now)
      return .cacheNotWritten(path: file.path, reason: error.reason)
    }
  }
}
