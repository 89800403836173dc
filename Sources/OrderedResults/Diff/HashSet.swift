/// A set of hashes.
struct HashSet {
  /// 0: empty; the hash 0 is kept as 1, which may make two keys look like one.
  private var slots: [UInt64]
  private let mask: Int

  init(minimumCapacity: Int) {
    var capacity = 16
    while capacity < 2 * minimumCapacity { capacity *= 2 }
    slots = Array(repeating: 0, count: capacity)
    mask = capacity - 1
  }

  private func slot(_ hash: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0, slots[slot] != hash { slot = (slot + 1) & mask }
    return slot
  }

  func contains(_ hash: UInt64) -> Bool { slots[slot(max(hash, 1))] != 0 }

  /// Adds a hash; false: it was there.
  mutating func insert(_ hash: UInt64) -> Bool {
    let hash = max(hash, 1)
    let slot = slot(hash)
    defer { slots[slot] = hash }
    return slots[slot] == 0
  }
}
