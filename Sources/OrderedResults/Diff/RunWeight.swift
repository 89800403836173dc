/// Three counts side by side, of pairs of each kind: those of a higher kind come first in comparisons.
protocol RunWeight: Comparable, Sendable {
  static var zero: Self { get }
  init(_ count: UInt32, ofKind kind: UInt32)
  static func += (left: inout Self, right: Self)
  /// Whether three counts fit that are below `limit`.
  static func holdsCounts(below limit: Int) -> Bool
}

extension UInt64: RunWeight {
  /// Bits of each count.
  private static var countWidth: Int { bitWidth / 3 }

  @inline(__always)
  init(_ count: UInt32, ofKind kind: UInt32) {
    self = UInt64(count) << (Self.countWidth * Int(kind))
  }

  static func holdsCounts(below limit: Int) -> Bool { limit <= 1 << countWidth }
}

/// A weight for as many pairs as runs may have.
// UInt128 is there from macOS 15 and iOS 18 on.
struct WideWeight: RunWeight {
  /// The count of the highest kind; that of the next one above 32 bits of that of the lowest.
  private var high: UInt64
  private var low: UInt64

  static let zero = WideWeight(0, ofKind: 0)

  @inline(__always)
  init(_ count: UInt32, ofKind kind: UInt32) {
    high = kind == RunKind.unchanged.rawValue ? UInt64(count) : 0
    low = kind == RunKind.unchanged.rawValue ? 0 : UInt64(count) << (32 * UInt64(kind))
  }

  @inline(__always)
  static func += (left: inout Self, right: Self) {
    left.high += right.high
    left.low += right.low
  }

  @inline(__always)
  static func < (left: Self, right: Self) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }

  static func holdsCounts(below limit: Int) -> Bool { limit <= 1 << 32 }
}
