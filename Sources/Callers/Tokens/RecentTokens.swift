/// Tokens in the order of their last use: a dictionary of places in an array, whose entries are a ring.
///
/// Entry 0 is none; after it comes the one that was used last, before it the one to be forgotten.
struct RecentTokens {
  private struct Entry {
    var key: TokenDigest?
    var token: VerifiedToken?
    var newer = 0
    var older = 0
  }

  let capacity: Int
  let generation: Int
  private var places: [TokenDigest: Int] = [:]
  private var entries = [Entry()]
  private var free: [Int] = []

  init(capacity: Int, generation: Int = 0) {
    self.capacity = capacity
    self.generation = generation
  }

  var count: Int { places.count }

  /// A token, which is then the one used last; forgotten instead where it has expired. O(1).
  mutating func use(_ key: TokenDigest, now: UnixSeconds) -> VerifiedToken? {
    guard let place = places[key] else { return nil }
    if let expires = entries[place].token?.expires, now >= expires {
      remove(place)
      return nil
    }
    if entries[0].older != place {
      unlink(place)
      link(place)
    }
    return entries[place].token
  }

  /// O(1).
  mutating func insert(_ token: VerifiedToken, for key: TokenDigest) {
    if let place = places[key] { remove(place) }
    if places.count >= capacity { remove(entries[0].newer) }
    let place: Int
    if let last = free.popLast() {
      place = last
    } else {
      place = entries.count
      entries.append(Entry())
    }
    entries[place].key = key
    entries[place].token = token
    places[key] = place
    link(place)
  }

  private mutating func remove(_ place: Int) {
    unlink(place)
    if let key = entries[place].key { places[key] = nil }
    entries[place] = Entry()
    free.append(place)
  }

  private mutating func unlink(_ place: Int) {
    let (newer, older) = (entries[place].newer, entries[place].older)
    entries[newer].older = older
    entries[older].newer = newer
  }

  private mutating func link(_ place: Int) {
    let second = entries[0].older
    entries[place].newer = 0
    entries[place].older = second
    entries[second].newer = place
    entries[0].older = place
  }

  /// Checks that the ring has each token once, both ways round. O(n).
  func checkInvariants() {
    var seen = 0
    var place = entries[0].older
    while place != 0 {
      precondition(entries[entries[place].newer].older == place, "ring broken at \(place)")
      precondition(entries[place].key.flatMap { places[$0] } == place, "place \(place) unknown")
      seen += 1
      precondition(seen <= places.count, "\(seen) of \(places.count) in the ring")
      place = entries[place].older
    }
    precondition(seen == places.count, "\(seen) of \(places.count) in the ring")
    precondition(places.count <= capacity, "\(places.count) of \(capacity)")
    precondition(entries.count == 1 + seen + free.count, "\(entries.count) entries, \(seen) used")
  }
}
