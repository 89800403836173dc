import Hashing

/// A hash table from numbers to numbers.
///
/// Memory: 16 bytes for each of its slots, of which between two and five sixths are taken: 19 to 24 bytes
/// an entry. A `Dictionary` doubles, and takes up to 43.
struct NumberMap {
  private struct Slot {
    var key: Int64
    var value: Int64
  }

  /// Stands in a slot that is free; the entry of this very key is kept beside them.
  private static let free = Int64.min
  private static let hash = KeyedHash()

  private var slots: [Slot] = []
  private var ofFree: Int64?
  /// How many slots are taken.
  private var taken = 0

  var count: Int { taken + (ofFree == nil ? 0 : 1) }

  /// The bytes that it takes.
  var size: Int { slots.capacity * MemoryLayout<Slot>.stride }

  /// The value of a key. O(1), and to set it that or, once in a while, O(n) for the n entries.
  subscript(key: Int64) -> Int64? {
    get {
      if key == Self.free { return ofFree }
      return place(of: key).map { slots[$0].value }
    }
    set {
      if key == Self.free {
        ofFree = newValue
      } else if let value = newValue {
        insert(value, key)
      } else if let place = place(of: key) {
        remove(at: place)
      }
    }
  }

  /// Hands over all entries, in no order. O(n).
  func forEach(_ body: (_ key: Int64, _ value: Int64) -> Void) {
    for slot in slots where slot.key != Self.free { body(slot.key, slot.value) }
    if let ofFree { body(Self.free, ofFree) }
  }

  // MARK: - Slots

  /// The slot that a key has where no other one is in its way.
  private func home(of key: Int64) -> Int {
    let mixed = KeyedHash.fold(UInt64(bitPattern: key) ^ Self.hash.seed, Self.multiplier)
    let (high, _) = (mixed &* Self.multiplier).multipliedFullWidth(by: UInt64(slots.count))
    return Int(high)
  }

  private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

  private func next(_ place: Int) -> Int { place + 1 == slots.count ? 0 : place + 1 }

  private func place(of key: Int64) -> Int? {
    if slots.isEmpty { return nil }
    var place = home(of: key)
    while slots[place].key != key {
      if slots[place].key == Self.free { return nil }
      place = next(place)
    }
    return place
  }

  private mutating func insert(_ value: Int64, _ key: Int64) {
    if let place = place(of: key) {
      slots[place].value = value
      return
    }
    if 6 * (taken + 1) > 5 * slots.count { grow() }
    put(Slot(key: key, value: value))
    taken += 1
  }

  private mutating func put(_ slot: Slot) {
    var place = home(of: slot.key)
    while slots[place].key != Self.free { place = next(place) }
    slots[place] = slot
  }

  private mutating func grow() {
    let old = slots
    let count = max(16, slots.count + slots.count / 4)
    slots = Array(unsafeUninitializedCapacity: count) { buffer, initialized in
      buffer.initialize(repeating: Slot(key: Self.free, value: 0))
      initialized = count
    }
    for slot in old where slot.key != Self.free { put(slot) }
  }

  /// Frees a slot, and moves those up that stand behind for want of it.
  private mutating func remove(at place: Int) {
    var hole = place
    var place = next(place)
    while slots[place].key != Self.free {
      let home = home(of: slots[place].key)
      let distance = (place - home + slots.count) % slots.count
      if distance >= (place - hole + slots.count) % slots.count {
        slots[hole] = slots[place]
        hole = place
      }
      place = next(place)
    }
    slots[hole] = Slot(key: Self.free, value: 0)
    taken -= 1
  }
}
