/// How often files were found to be others shortly after they had been opened.
///
/// A log that was damaged, or that is gone, under somebody who has it open is another one again as soon
/// as it is opened. All who ask are told each time, so that it is opened less and less often.
struct Reopenings {
  private var last: (time: ContinuousClock.Instant, database: FileStatus?)?
  private var count = 0

  /// How long to wait before the files are opened once more.
  ///
  /// - Parameters:
  ///   - database: the file that is there now.
  ///   - now: the time.
  /// - Returns: Nothing the first four times within some seconds, and then 250 ms, which doubles up to
  ///   2 s. Where the database file itself is another one each time, or was written, it stays at 250 ms.
  mutating func delay(for database: FileStatus?, at now: ContinuousClock.Instant) -> Duration {
    if let last, now - last.time < .seconds(5) {
      count += 1
      if database != last.database { count = min(count, 4) }
    } else {
      count = 0
    }
    last = (now, database)
    return count < 4 ? .zero : .milliseconds(250) * (1 << min(count - 4, 3))
  }
}
