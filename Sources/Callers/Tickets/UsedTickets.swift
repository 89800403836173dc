/// The tickets that were used and have not expired, by the second in which they do.
struct UsedTickets {
  /// A ticket's random bytes.
  struct Salt: Hashable {
    private let words: (UInt64, UInt64)

    init(_ bytes: [UInt8]) {
      words = bytes.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
    }

    static func == (a: Self, b: Self) -> Bool { a.words == b.words }

    func hash(into hasher: inout Hasher) {
      hasher.combine(words.0)
      hasher.combine(words.1)
    }
  }

  let capacity: Int
  /// How many of them one caller may have.
  let share: Int
  private(set) var count = 0
  private var salts: [Int: Set<Salt>] = [:]
  /// How many are whose, by their name.
  private var shares: [Int: [String: Int]] = [:]

  init(capacity: Int, share: Int) { (self.capacity, self.share) = (capacity, share) }

  /// Whether a ticket was used that expires in a second. O(1).
  func contains(_ salt: Salt, expiringIn second: Int) -> Bool {
    salts[second]?.contains(salt) == true
  }

  /// Marks a ticket as used. O(1), and O(s) in the seconds in which tickets expire: some 30.
  ///
  /// - Parameters:
  ///   - salt: The ticket's.
  ///   - name: Whose it is.
  ///   - second: When it expires, without the fraction.
  ///   - isKept: Whether a ticket that expires in a second could still be good.
  /// - Throws: `used`, where it was, and `crowded`, where it could not be remembered.
  mutating func use(
    _ salt: Salt, of name: String, expiringIn second: Int, isKept: (_ second: Int) -> Bool
  ) throws(TicketError) {
    for past in salts.keys where !isKept(past) {
      count -= salts.removeValue(forKey: past)?.count ?? 0
      shares[past] = nil
    }
    if contains(salt, expiringIn: second) { throw .used }
    let own = shares.values.reduce(0) { $0 + ($1[name] ?? 0) }
    guard count < capacity, own < share else { throw .crowded }
    salts[second, default: []].insert(salt)
    shares[second, default: [:]][name, default: 0] += 1
    count += 1
  }
}
