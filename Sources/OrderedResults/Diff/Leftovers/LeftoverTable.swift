import Hashing

/// A hash table of old leftovers by identity, from which each can be taken once.
///
/// Leftovers that share a key are taken in the order in which they stand, so that the n-th of the
/// old result meets the n-th of the new one. Open addressing in one array at most half full: an
/// entry is the upper half of the hash and the leftover's number, so that a miss costs one access.
struct LeftoverTable {
  let old: FlatRecords
  /// For each leftover the number of its record.
  let leftovers: [UInt32]
  private let identity: Identity
  private var slots: [Entry]
  private let mask: Int
  /// For each leftover the next one that shares its key, or `none`; empty if no key repeats.
  private var next: [UInt32] = []

  /// What a slot holds.
  fileprivate struct Entry: Equatable {
    /// The upper half of the hash; the lowest bit tells that the slot is in use.
    let tag: UInt32
    /// The first leftover of the key that was not taken yet; `none`: all were.
    var number: UInt32

    static let none = UInt32.max
    static let empty = Entry(tag: 0, number: none)
    static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) | 1 }
    var isEmpty: Bool { tag == 0 }
  }

  /// O(m), m leftovers.
  init(
    _ leftovers: [UInt32], of old: FlatRecords, _ identity: Identity, _ hasher: KeyedHash
  ) {
    (self.leftovers, self.old, self.identity) = (leftovers, old, identity)
    var capacity = 16
    while capacity < 2 * leftovers.count { capacity *= 2 }
    slots = Array(repeating: .empty, count: capacity)
    mask = capacity - 1
    // From the last to the first, so that the first of those that share a key heads the others.
    for number in (0..<leftovers.count).reversed() {
      add(number, identity.hash(old.bytes(leftovers[number]), hasher))
    }
  }

  private mutating func add(_ number: Int, _ hash: UInt64) {
    let tag = Entry.tag(hash)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while !slots[slot].isEmpty {
      if slots[slot].tag == tag, isSame(slots[slot].number, old.bytes(leftovers[number])) {
        if next.isEmpty { next = Array(repeating: Entry.none, count: leftovers.count) }
        next[number] = slots[slot].number
        break
      }
      slot = (slot + 1) & mask
    }
    slots[slot] = Entry(tag: tag, number: UInt32(number))
  }

  /// The record of a leftover.
  @inline(__always)
  func bytes(_ number: UInt32) -> BorrowedBytes { old.bytes(leftovers[Int(number)]) }

  private func isSame(_ number: UInt32, _ record: BorrowedBytes) -> Bool {
    identity.isSame(bytes(number), record)
  }

  /// A slot that may hold the same record, and what it held.
  struct Candidate {
    fileprivate let slot: Int
    fileprivate let entry: Entry
  }

  /// The first slot with the hash's tag: the table alone is read, no leftover.
  func candidate(_ hash: UInt64) -> Candidate {
    let tag = Entry.tag(hash)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while !slots[slot].isEmpty, slots[slot].tag != tag { slot = (slot + 1) & mask }
    return Candidate(slot: slot, entry: slots[slot])
  }

  /// The record of a candidate; nil if there is none.
  func bytes(_ candidate: Candidate) -> BorrowedBytes? {
    let number = candidate.entry.number
    return number == Entry.none ? nil : bytes(number)
  }

  /// Takes a candidate, which the caller found to be the same record.
  ///
  /// - Returns: its number; nil if it was taken meanwhile.
  mutating func take(_ candidate: Candidate) -> UInt32? {
    guard slots[candidate.slot] == candidate.entry else { return nil }
    return take(slot: candidate.slot)
  }

  /// Takes the first leftover that is the same record.
  ///
  /// - Returns: its number; nil if there is none or all were taken.
  mutating func take(_ record: BorrowedBytes, hash: UInt64) -> UInt32? {
    let tag = Entry.tag(hash)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while !slots[slot].isEmpty {
      if slots[slot].tag == tag, slots[slot].number != Entry.none,
        isSame(slots[slot].number, record)
      {
        return take(slot: slot)
      }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private mutating func take(slot: Int) -> UInt32 {
    let number = slots[slot].number
    // Past the last of a key the slot stays in use, so that others behind it are still found.
    slots[slot].number = next.isEmpty ? Entry.none : next[Int(number)]
    return number
  }
}
