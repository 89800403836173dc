import SeededRandom

/// Hashes bytes to 64 bits under a key: for tables, and for digests that stand for what they are of.
///
/// Words are multiplied to twice their width and the halves folded together, as wyhash does
/// (https://github.com/wangyi-fudan/wyhash): some 10 GB/s on long input, and three to five times the
/// speed of the standard library's `Hasher` on a few bytes. Under a random key nobody can choose
/// bytes that collide, and two contents have one digest once in 2^64 times.
// Unsafe: every load lies inside the bytes that the caller holds for the time of the call.
package struct KeyedHash: Sendable {
  @usableFromInline let key: (UInt64, UInt64, UInt64, UInt64)
  /// What a hash begins with.
  package let seed: UInt64
  @usableFromInline let mask: UInt64

  /// A hash that is like no other.
  ///
  /// - Parameter mask: the bits of each hash to keep: with few, keys collide.
  package init(mask: UInt64 = .max) {
    // Not as a generator: the system's is empty, and the thread sanitizer crashes at its address.
    self.init(mask: mask) { .random(in: .min ... .max) }
  }

  /// The hash of a key: the same words make the same hash on every machine of one byte order.
  ///
  /// - Parameters:
  ///   - mask: the bits of each hash to keep.
  ///   - next: gives the words of the key.
  package init(mask: UInt64 = .max, next: () -> UInt64) {
    // Odd, so that no product loses bits of the other factor.
    key = (next() | 1, next() | 1, next() | 1, next() | 1)
    seed = next()
    self.mask = mask
  }

  /// The same in every process on machines of one byte order: for what is in files.
  ///
  /// It tells damage, not malice.
  package static let stable: KeyedHash = {
    var random = SeededGenerator(seed: 0)
    return KeyedHash(mask: .max) { random.next() }
  }()

  /// The digest of bytes by themselves; O(b), b bytes.
  package func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard let start = bytes.baseAddress else { return seed }
    return digest(start, count: bytes.count, after: 0)
  }

  /// The digest of bytes, and of those whose digest `before` is: 0, where there are none.
  ///
  /// O(b), b bytes.
  @inlinable @inline(__always)
  package func digest(_ bytes: UnsafeRawPointer, count: Int, after before: UInt64) -> UInt64 {
    // Folded, so that no change of the bytes can make up for one of the length.
    let length = Self.fold(key.0 ^ UInt64(truncatingIfNeeded: count), key.1 ^ before)
    return hash(bytes, count: count, from: length)
  }

  /// The hash of bytes, going on from `state`: ``seed``, or the hash of what came before.
  ///
  /// O(b), b bytes: 48 at a step, then 16.
  @inlinable @inline(__always)
  package func hash(_ bytes: UnsafeRawPointer, count: Int, from state: UInt64) -> UInt64 {
    var hash = state ^ UInt64(truncatingIfNeeded: count)
    var offset = 0
    if count > 64 {
      hash = foldLong(bytes, count, from: hash)
      offset = count / 48 &* 48
    }
    while offset &+ 16 <= count {
      hash = Self.fold(Self.word(bytes, offset) ^ key.0, Self.word(bytes, offset &+ 8) ^ hash)
      offset &+= 16
    }
    let (low, high) = Self.tail(bytes + offset, count: count &- offset)
    return Self.fold(Self.fold(low ^ key.0, high ^ hash) ^ key.1, key.2) & mask
  }

  /// The hash of all the 48 bytes that there are: three sums side by side do not wait for each other.
  @usableFromInline @inline(never)
  func foldLong(_ bytes: UnsafeRawPointer, _ count: Int, from state: UInt64) -> UInt64 {
    let key = key
    var lanes = (state, state &+ key.1, state &+ key.2)
    var offset = 0
    while offset <= count &- 48 {
      lanes.0 = Self.fold(Self.word(bytes, offset) ^ key.1, Self.word(bytes, offset &+ 8) ^ lanes.0)
      lanes.1 = Self.fold(
        Self.word(bytes, offset &+ 16) ^ key.2, Self.word(bytes, offset &+ 24) ^ lanes.1)
      lanes.2 = Self.fold(
        Self.word(bytes, offset &+ 32) ^ key.3, Self.word(bytes, offset &+ 40) ^ lanes.2)
      offset &+= 48
    }
    return Self.fold(lanes.0 ^ key.3, lanes.1 ^ key.2) ^ Self.fold(lanes.2, key.1)
  }

  /// The last 0 to 15 bytes as two words, each byte in at least one of them.
  @inlinable @inline(__always)
  static func tail(_ bytes: UnsafeRawPointer, count: Int) -> (UInt64, UInt64) {
    if count >= 8 { return (word(bytes, 0), word(bytes, count &- 8)) }
    if count >= 4 {
      return (
        UInt64(bytes.loadUnaligned(as: UInt32.self)),
        UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
      )
    }
    if count == 0 { return (0, 0) }
    // One to three bytes: the first, the middle and the last are all of them.
    let start = UInt64(bytes.load(as: UInt8.self))
    let middle = UInt64(bytes.load(fromByteOffset: count >> 1, as: UInt8.self))
    let end = UInt64(bytes.load(fromByteOffset: count &- 1, as: UInt8.self))
    return (start << 16 | middle << 8 | end, 0)
  }

  @inlinable @inline(__always)
  static func word(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inlinable @inline(__always)
  package static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (high, low) = left.multipliedFullWidth(by: right)
    return high ^ low
  }
}
