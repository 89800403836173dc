/// What SQLite's `sum`, `total` and `avg` add reals up to, where no order of them makes it another.
///
/// From SQLite 3.43 on they add with a compensation, that of Kahan, Babuška and Neumaier: the error of each addition is
/// found exactly, and the errors are added up too, so that nothing is lost but among the errors. What SQLite returns is
/// the real next to what is left. Of n numbers whose magnitudes come to a, with u = 2⁻⁵³:
///
/// - The errors come to nua at most, and are multiples of the last bit of all numbers. Where so many of these fit into a
///   real, nothing is lost.
/// - Else that is at most γ²a, with γ = nu / (1 - nu) (Ogita, Rump, Oishi, Accurate Sum and Dot Product, 2005, proposition
///   4.5), and which real is next, is certain, unless the exact sum is as close to the middle between two.
struct CompensatedSum {
  private var exact = ExactSum()
  private var magnitude = ExactSum()
  /// All that was ever added is a multiple of this power of 2.
  private var lastBit = 1.0

  /// Whether nothing was ever added.
  var isUnused: Bool { exact.isUnused }

  /// Adds `real` once, for a `sign` of 1, or takes it away, for one of -1; returns whether it can. O(1).
  mutating func add(_ real: Double, _ sign: Int) -> Bool {
    guard ExactSum.magnitudes.contains(real.magnitude) else { return false }
    exact.add(real, sign)
    magnitude.add(real.magnitude, sign)
    lastBit = min(lastBit, real.lastBit)
    return true
  }

  /// Adds what integers come to, or numbers that are those times `unit`, and what their magnitudes do. O(1).
  ///
  /// - Parameters:
  ///   - sum: of the integers.
  ///   - magnitudes: the sum of theirs, each at most 2^52.
  ///   - unit: a power of 2.
  mutating func add(_ sum: WideSum, magnitudes: WideSum, unit: Double = 1) {
    for part in sum.parts { exact.add(part * unit, 1) }
    for part in magnitudes.parts { magnitude.add(part * unit, 1) }
    lastBit = min(lastBit, unit)
  }

  /// The sum of `count` numbers; nil: it may depend on their order. O(1).
  func value(count: Int) -> Double? {
    let close = exact.approximation
    let nearest = close + exact.subtracting(close).approximation
    let rest = exact.subtracting(nearest)
    let difference = rest.approximation
    // SQLite begins with 0. Twice what was proved: the magnitude is rounded.
    let errors = 2 * Double(count + 1) * 0x1p-53
    let mostErrors = errors * magnitude.approximation
    let isLossless = mostErrors < lastBit * 0x1p53
    let mostLost = (isLossless ? 0 : errors * mostErrors) + difference.magnitude * 0x1p-45
    let middles = ((nearest.nextDown - nearest) / 2, (nearest.nextUp - nearest) / 2)
    if difference - mostLost > middles.0, difference + mostLost < middles.1 { return nearest }
    // From the middle between two reals it is to the even one.
    let isInTheMiddle =
      isLossless && (difference == middles.0 || difference == middles.1)
      && rest.subtracting(difference).approximation == 0
    return isInTheMiddle && nearest.significandBitPattern.isMultiple(of: 2) ? nearest : nil
  }
}

extension Double {
  /// What the last bit is worth that is 1, of a number other than 0.
  fileprivate var lastBit: Double {
    Double(sign: .plus, exponent: Int(exponent) - significandWidth, significand: 1)
  }
}

/// A sum of up to 2^31 reals that loses none of their bits.
private struct ExactSum {
  /// Of what reals other than 0 all bits are kept.
  static let magnitudes = 0x1p-76..<0x1p64

  /// Each counts 2^32 times as much as the one before, the first 2^-128. They take what is added without a carry. None is
  /// there before the first real.
  private var digits: [Int64] = []
  /// Up to 2^31 reals below 2^64 are below 2^95.
  private static let digitCount = 7
  private static let bitsOfDigit = 32
  private static let leastExponent = -128

  var isUnused: Bool { digits.isEmpty }

  /// Adds `real`, a multiple of 2^-128 below 2^96, once, for a `sign` of 1, or takes it away, for one of -1.
  mutating func add(_ real: Double, _ sign: Int) {
    if real == 0 { return }
    if digits.isEmpty { digits = Array(repeating: 0, count: Self.digitCount) }
    var bits = real.significandBitPattern | 1 << Double.significandBitCount
    var offset = Int(real.exponent) - Double.significandBitCount - Self.leastExponent
    if offset < 0 {
      bits >>= -offset
      offset = 0
    }
    let (index, shift) = offset.quotientAndRemainder(dividingBy: Self.bitsOfDigit)
    let (high, low) = bits.multipliedFullWidth(by: 1 << shift)
    let factor = Int64(real < 0 ? -sign : sign)
    digits[index] += factor * Int64(low & 0xffff_ffff)
    digits[index + 1] += factor * Int64(low >> 32)
    if high > 0 { digits[index + 2] += factor * Int64(high) }
  }

  func subtracting(_ real: Double) -> ExactSum {
    var difference = self
    difference.add(real, -1)
    return difference
  }

  /// A real close to it, with a relative error below 2^-49, which is a multiple of 2^-128; exact where 53 bits are
  /// enough.
  var approximation: Double {
    var carried = withCarries(of: digits)
    let isNegative = carried.last.map { $0 < 0 } ?? false
    if isNegative { carried = withCarries(of: digits.map { -$0 }) }
    let magnitude = carried.reversed().reduce(0) { $0 * 0x1p32 + Double($1) } * 0x1p-128
    return isNegative ? -magnitude : magnitude
  }

  /// The same sum in digits from 0 up to 2^32, but for the last, which has the sign.
  private func withCarries(of digits: [Int64]) -> [Int64] {
    var carried = digits
    for index in carried.indices.dropLast() {
      carried[index + 1] += carried[index] >> 32
      carried[index] &= 0xffff_ffff
    }
    return carried
  }
}
