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
  private(set) var count = 0
  private var salts: [Int: Set<Salt>] = [:]

  init(capacity: Int) { self.capacity = capacity }

  /// Marks a ticket as used. O(1), and O(s) in the seconds in which tickets expire: some 30.
  ///
  /// - Parameters:
  ///   - salt: The ticket's.
  ///   - second: When it expires, without the fraction.
  ///   - isKept: Whether a ticket that expires in a second could still be good.
  /// - Throws: `used`, where it was, and `crowded`, where it could not be remembered.
  mutating func use(
    _ salt: Salt, expiringIn second: Int, isKept: (_ second: Int) -> Bool
  ) throws(TicketError) {
    for past in salts.keys where !isKept(past) {
      count -= salts.removeValue(forKey: past)?.count ?? 0
    }
    if salts[second]?.contains(salt) == true { throw .used }
    guard count < capacity else { throw .crowded }
    salts[second, default: []].insert(salt)
    count += 1
  }
}
