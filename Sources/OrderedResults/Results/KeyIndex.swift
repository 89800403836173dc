import Hashing
import HeldMemory

/// Where the records of a result are, by their keys.
///
/// For results that are asked for many keys: it is made anew for each result. Memory: 16 bytes a
/// record, over the load of a hash table.
package struct KeyIndex: Sendable {
  package let results: Results
  private let hasher = KeyedHash()
  /// By the hash of a key, the first record with it. Two keys may share a hash.
  private var offsets: [UInt64: Int]
  private let charge = MemoryCharge()

  /// About the bytes of a key, with what the table leaves free.
  private static let bytesPerKey = 26

  /// O(n), n records.
  package init(_ results: Results) {
    self.results = results
    offsets = [:]
    guard results.layout.key != nil else { return }
    offsets.reserveCapacity(results.count)
    let identity = Identity(results.layout)
    var cursor = RecordCursor(results.records)
    while !cursor.isAtEnd {
      let hash = identity.hash(cursor.bytes, hasher)
      if offsets[hash] == nil { offsets[hash] = cursor.offset }
      cursor.advance()
    }
    charge.set(offsets.count * Self.bytesPerKey)
  }

  /// The offset of the first record with this key, as `Results.offset(ofKey:)` has it.
  ///
  /// O(log n) for n records, unless two keys share a hash of 64 bits.
  package func offset(ofKey key: [Value]) -> Int? {
    guard let wanted = results.layout.record(withKey: key) else { return nil }
    let identity = Identity(results.layout)
    guard let offset = wanted.borrow({ offsets[identity.hash($0, hasher)] }) else { return nil }
    let isFound = wanted.borrow { wanted in
      results[offset].borrow { identity.isSame($0, wanted) }
    }
    return isFound ? offset : results.offset(ofKey: key)
  }
}
