/// How often something took how long.
///
/// A power of two and a half or so from bucket to bucket, from the time of a cached answer to that
/// of a client's patience. O(buckets) for each; 150 bytes.
package struct Histogram: Sendable, Equatable {
  /// Upper bounds in nanoseconds; what takes longer than the last is only in the count.
  private static let nanoseconds: [Int64] = [
    50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000,
    50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000,
    10_000_000_000,
  ]

  private var buckets = [Int](repeating: 0, count: nanoseconds.count)
  private var totalNanoseconds: Int64 = 0

  /// How many.
  package private(set) var count = 0

  /// Nothing yet.
  package init() {}

  /// How long all of them took, in seconds.
  package var sum: Double { Double(totalNanoseconds) / 1e9 }

  /// For each upper bound in seconds how many took at most that long.
  package var cumulative: [(bound: Double, count: Int)] {
    var count = 0
    return zip(Self.nanoseconds, buckets).map { bound, bucket in
      count += bucket
      return (Double(bound) / 1e9, count)
    }
  }

  package mutating func record(_ duration: Duration) {
    record(nanoseconds: duration.wholeNanoseconds)
  }

  mutating func record(nanoseconds: Int64) {
    let time = max(0, nanoseconds)
    count += 1
    totalNanoseconds += time
    if let bucket = Self.nanoseconds.firstIndex(where: { time <= $0 }) { buckets[bucket] += 1 }
  }

  /// Counts all that another has counted.
  package static func + (left: Histogram, right: Histogram) -> Histogram {
    var sum = left
    for index in sum.buckets.indices { sum.buckets[index] += right.buckets[index] }
    sum.totalNanoseconds += right.totalNanoseconds
    sum.count += right.count
    return sum
  }
}
