/// The field of the numbers modulo 2⁶¹ − 1, a prime: sums and products take a few instructions.
enum Mersenne61 {
  static let prime: UInt64 = 1 << 61 - 1

  /// An element from any 64 bits.
  @inline(__always)
  static func element(_ bits: UInt64) -> UInt64 {
    let sum = bits & prime &+ bits >> 61
    return sum >= prime ? sum &- prime : sum
  }

  @inline(__always)
  static func add(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let sum = left &+ right
    return sum >= prime ? sum &- prime : sum
  }

  @inline(__always)
  static func subtract(_ left: UInt64, _ right: UInt64) -> UInt64 {
    left >= right ? left &- right : left &+ prime &- right
  }

  @inline(__always)
  static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (high, low) = left.multipliedFullWidth(by: right)
    // 2⁶¹ is 1 here, so that what stands above the 61st bit is added below it.
    return element((low & prime) &+ (high << 3 | low >> 61))
  }
}
