/// Sets of rowids as ascending lists.
enum RowIDs {
  /// O(n + m). Both lists are ascending, without repetitions; so is the result.
  static func union(_ a: [Int64], _ b: [Int64]) -> [Int64] {
    if a.isEmpty { return b }
    if b.isEmpty { return a }
    var result: [Int64] = []
    result.reserveCapacity(a.count + b.count)
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
      if a[i] == b[j] { j += 1; continue }
      if a[i] < b[j] {
        result.append(a[i])
        i += 1
      } else {
        result.append(b[j])
        j += 1
      }
    }
    result += a[i...]
    result += b[j...]
    return result
  }
}
