import HeldMemory

// What only makes changes cheaper: what leads changed rows to records, where the records are, and rows that are followed for
// what they come to. Where it takes the room of what is shown, it goes, and changes cost more for a while.
extension Refresher {
  /// Lets go of aids until no more than so many bytes are held, or there are none: of those of one result
  /// the largest first, then of rows that are followed, which several may share.
  ///
  /// In a turn only. O(n log n), n live results.
  ///
  /// - Parameter goal: bytes.
  /// - Returns: whether there was anything to let go of.
  package func letGoOfAids(until goal: Int) -> Bool {
    var hasLetGo = false
    // Rows that are followed are of no use without their index: they go as a whole, or stay.
    let idle = live.all.filter { $0.background == nil && !($0.listener is FollowedRows) }
      .map { (result: $0, size: $0.sizeOfAids) }
    for (result, size) in idle.sorted(by: { $0.size > $1.size }) where HeldMemory.bytes > goal {
      guard size > 0 else { break }
      result.letGoOfAids()
      hasLetGo = true
    }
    for rows in followedRows.values where HeldMemory.bytes > goal {
      guard let live = rows.live, live.background == nil else { continue }
      rest(rows, live)
      hasLetGo = true
    }
    return hasLetGo
  }

  /// Does without rows for a while that were followed.
  func rest(_ rows: FollowedRows, _ live: LiveResult) {
    rows.rest()
    drop(live)
    release(rows)
  }
}
