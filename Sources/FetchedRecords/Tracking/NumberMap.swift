import Hashing

/// A hash table from numbers to numbers.
///
/// Memory: 8 bytes for each of its slots, of which between two thirds and five sixths are taken, or 12 or 16 where
/// keys or values do not fit into 4 bytes: 10 to 12, or up to 24 an entry. It doubles only until ``trim()``.
/// A `Dictionary` always does, and takes up to 43.
struct NumberMap {
  /// Stands in a slot that is free; the entry of this very key is kept beside them.
  private static let free = NumberArray.none
  private static let hash = KeyedHash()

  /// By slots.
  private var keys = NumberArray()
  private var values = NumberArray()
  private var ofFree: Int64?
  /// How many slots are taken.
  private var taken = 0
  private var isTrimmed = false

  var count: Int { taken + (ofFree == nil ? 0 : 1) }

  /// The bytes that it takes.
  var size: Int { keys.size + values.size }

  /// The value of a key. O(1), and to set it that or, once in a while, O(n) for the n entries.
  subscript(key: Int64) -> Int64? {
    get {
      if key == Self.free { return ofFree }
      return place(of: key).map { values[$0] }
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

  /// Gives back what is free where that is much, and grows by quarters from now on. O(n).
  mutating func trim() {
    isTrimmed = true
    // To enter all of them anew costs about as much as it did the first time.
    if 2 * keys.count > 3 * taken + 32 { resize(to: 4 * taken / 3 + 16) }
  }

  /// Hands over all entries, in no order. O(n).
  func forEach(_ body: (_ key: Int64, _ value: Int64) -> Void) {
    keys.forEach(with: values) { key, value in
      if key != Self.free { body(key, value) }
    }
    if let ofFree { body(Self.free, ofFree) }
  }

  // MARK: - Slots

  /// The slot that a key has where no other one is in its way.
  private func home(of key: Int64) -> Int {
    let mixed = KeyedHash.fold(UInt64(bitPattern: key) ^ Self.hash.seed, Self.multiplier)
    let (high, _) = (mixed &* Self.multiplier).multipliedFullWidth(by: UInt64(keys.count))
    return Int(high)
  }

  private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

  private func next(_ place: Int) -> Int { place + 1 == keys.count ? 0 : place + 1 }

  private func place(of key: Int64) -> Int? {
    if keys.count == 0 { return nil }
    var place = home(of: key)
    while true {
      let found = keys[place]
      if found == key { return place }
      if found == Self.free { return nil }
      place = next(place)
    }
  }

  private mutating func insert(_ value: Int64, _ key: Int64) {
    if let place = place(of: key) {
      values[place] = value
      return
    }
    if 6 * (taken + 1) > 5 * keys.count {
      resize(to: max(16, keys.count + (isTrimmed ? keys.count / 4 : keys.count)))
    }
    put(key, value)
    taken += 1
  }

  private mutating func put(_ key: Int64, _ value: Int64) {
    var place = home(of: key)
    while keys[place] != Self.free { place = next(place) }
    keys[place] = key
    values[place] = value
  }

  private mutating func resize(to count: Int) {
    let old = (keys: keys, values: values)
    keys = NumberArray(count: count, isWide: old.keys.isWide)
    values = NumberArray(count: count, isWide: old.values.isWide)
    old.keys.forEach(with: old.values) { key, value in
      if key != Self.free { put(key, value) }
    }
  }

  /// Frees a slot, and moves those up that stand behind for want of it.
  private mutating func remove(at place: Int) {
    var hole = place
    var place = next(place)
    while keys[place] != Self.free {
      let home = home(of: keys[place])
      let distance = (place - home + keys.count) % keys.count
      if distance >= (place - hole + keys.count) % keys.count {
        keys[hole] = keys[place]
        values[hole] = values[place]
        hole = place
      }
      place = next(place)
    }
    keys[hole] = Self.free
    taken -= 1
  }
}
