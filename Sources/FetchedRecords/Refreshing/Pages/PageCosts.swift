import GRDB
import OrderedResults

/// What is known of results that are read in pages: how many records each has, and what its pages
/// have cost.
///
/// Whoever reads page after page would have had it cheaper with the whole result. Nobody knows
/// beforehand how many there will be; but if the result is fetched as a whole when its pages have
/// cost as much as that, then all together costs at most twice of what would have been best.
struct PageCosts {
  struct Key: Hashable {
    let query: String
    let arguments: QueryArguments
  }

  private struct Entry {
    let version: ResultsVersion
    let count: Int
    var spent: Duration
    var since: ContinuousClock.Instant
  }

  /// Entries at most; beyond that all are forgotten, and cost a count each.
  private static let maximumCount = 4096
  /// To fetch a record of many, and to hold it: 1.9 s a million.
  private static let costOfARecord = Duration.microseconds(2)
  /// As long as a live query is kept without a user by default.
  private static let memory = Duration.seconds(30)

  private var entries: [Key: Entry] = [:]

  /// How many results are remembered.
  var size: Int { entries.count }

  /// The number of records, if it was counted at this version.
  func count(_ key: Key, at version: ResultsVersion) -> Int? {
    guard let entry = entries[key], entry.version == version else { return nil }
    return entry.count
  }

  /// The number of records when they were last counted; 0: they never were.
  func lastCount(_ key: Key) -> Int { entries[key]?.count ?? 0 }

  /// Notes that a page was read.
  ///
  /// - Returns: whether the pages of the last time have cost as much as the whole result would.
  mutating func note(
    _ found: PageTask.Found, at version: ResultsVersion, of key: Key, took duration: Duration,
    now: ContinuousClock.Instant = .now
  ) -> Bool {
    var (spent, since) = (duration, now)
    if let old = entries[key], now - old.since < Self.memory {
      (spent, since) = (old.spent + duration, old.since)
    } else if entries.count >= Self.maximumCount {
      entries = [:]
    }
    let isDear = spent > Self.costOfARecord * found.count
    if isDear { (spent, since) = (.zero, now) }
    entries[key] = Entry(version: version, count: found.count, spent: spent, since: since)
    return isDear
  }
}
