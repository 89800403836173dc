/// The digest of a run of elements in their order, which can be put together from those of its parts.
///
/// A polynomial over the field of 2⁶¹ − 1 elements, at each of the key's two points: whatever way a run
/// is cut, its digest is the same, and two runs of n elements that differ have the same one with odds
/// below (n / 2⁶¹)². (R. M. Karp, M. O. Rabin, *Efficient randomized pattern-matching algorithms*, 1987,
/// with elements that are hashes.)
package struct RunDigest: Sendable {
  typealias Pair = (UInt64, UInt64)

  private(set) var values: Pair
  /// The points to the power of the run's length.
  private(set) var powers: Pair

  /// Of no element.
  package init() { self.init(values: (0, 0), powers: (1, 1)) }

  init(values: Pair, powers: Pair) {
    self.values = values
    self.powers = powers
  }

  /// Continues the run with another one. O(1).
  package mutating func append(_ next: RunDigest) {
    values.0 = Mersenne61.add(Mersenne61.multiply(values.0, next.powers.0), next.values.0)
    values.1 = Mersenne61.add(Mersenne61.multiply(values.1, next.powers.1), next.values.1)
    powers.0 = Mersenne61.multiply(powers.0, next.powers.0)
    powers.1 = Mersenne61.multiply(powers.1, next.powers.1)
  }

  /// The digest as 22 characters that are safe in a URL, a header and a file's name: the alphabet of
  /// RFC 4648 §5.
  package var text: String {
    let alphabet = Self.alphabet
    return String(unsafeUninitializedCapacity: 22) { buffer in
      for (half, value) in [values.0, values.1].enumerated() {
        for digit in 0..<11 {
          buffer[half * 11 + digit] = alphabet[Int(value >> UInt64(6 * digit) & 63)]
        }
      }
      return 22
    }
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
