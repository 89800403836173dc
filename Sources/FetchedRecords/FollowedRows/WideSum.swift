/// A sum of up to 2^31 integers of 64 bits.
// Int128 is there from macOS 15 and iOS 18 on.
struct WideSum: Equatable {
  /// The sum is `high` times 2^32, and `low`, which is below 2^32.
  private var high: Int64 = 0
  private var low: Int64 = 0

  /// Adds `magnitude` once, for a `sign` of 1, or takes it away, for one of -1.
  mutating func add(_ magnitude: UInt64, _ sign: Int) {
    high += Int64(sign) * Int64(magnitude >> 32)
    low += Int64(sign) * Int64(magnitude & 0xffff_ffff)
    high += low >> 32
    low &= 0xffff_ffff
  }

  /// Two reals that come to the sum, which is one of integers up to 2^52.
  var parts: [Double] { [Double(high) * 0x1p32, Double(low)] }

  /// The sum; nil: it has no place in 64 bits.
  var value: Int64? { Int32(exactly: high).map { Int64($0) << 32 | low } }
}
