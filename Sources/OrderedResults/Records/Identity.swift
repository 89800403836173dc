import Hashing

/// By what two records are the same one: their key; or else, where no key can be known, all that
/// they show and the section in which they stand.
///
/// Key columns are compared as SQLite compares them: 1 and 1.0 are one key.
struct Identity {
  /// How many leading columns are compared as they are.
  private let leading: Int
  /// For each further column, how many columns lie between it and the one before.
  private let gaps: [Int]
  /// The one key column's position, or -1: the case for which the loops are made.
  private let single: Int
  /// Whether it is a key, not all that is shown.
  let isKey: Bool

  init(_ layout: RecordLayout) {
    let isKey = layout.key != nil
    let leading = isKey ? 0 : layout.columns.count
    // Ascending, so that one walk meets them all: order does not matter for equality.
    let positions = Set(layout.key ?? [layout.section ?? 0]).sorted().filter { $0 >= leading }
    gaps = zip(positions, [leading - 1] + positions).map { $0 - $1 - 1 }
    single = isKey && positions.count == 1 ? positions[0] : -1
    (self.isKey, self.leading) = (isKey, leading)
  }

  /// Whether it is the first column alone.
  var isFirstColumn: Bool { single == 0 }

  /// Whether two records are the same one; their columns are those of the layout.
  ///
  /// O(b), b bytes to the end of the key.
  func isSame(_ left: BorrowedBytes, _ right: BorrowedBytes) -> Bool {
    var (left, right) = (left.columns, right.columns)
    if single >= 0 {
      left.skip(single)
      right.skip(single)
      if let left = left.peekIntegerFast(), let right = right.peekIntegerFast() {
        return left == right
      }
      return Self.isSameColumn(left.nextBytes(), right.nextBytes())
    }
    if leading > 0, !left.nextBytes(leading).isEqual(to: right.nextBytes(leading)) {
      return false
    }
    for gap in gaps {
      left.skip(gap)
      right.skip(gap)
      if !Self.isSameColumn(left.nextBytes(), right.nextBytes()) { return false }
    }
    return true
  }

  /// The key, if it is one column, and that an integer or the same as one.
  ///
  /// O(c), c the column's position.
  @inline(__always)
  func integer(_ record: BorrowedBytes) -> Int64? {
    guard single >= 0 else { return nil }
    var columns = record.columns
    columns.skip(single)
    return columns.peekInteger()
  }

  /// A hash that is the same for the same record.
  ///
  /// O(b), b bytes to the end of the key.
  func hash(_ record: BorrowedBytes, _ hasher: KeyedHash) -> UInt64 {
    var columns = record.columns
    if single >= 0 {
      columns.skip(single)
      return Self.hash(columns.nextBytes(), hasher, from: hasher.seed)
    }
    var state = hasher.seed
    if leading > 0 { state = hasher.hash(columns.nextBytes(leading), from: state) }
    for gap in gaps {
      columns.skip(gap)
      state = Self.hash(columns.nextBytes(), hasher, from: state)
    }
    return state
  }

  @inline(__always)
  private static func isSameColumn(_ left: BorrowedBytes, _ right: BorrowedBytes) -> Bool {
    if left.isEqual(to: right) { return true }
    // Only a real can be the same as a number with other bytes.
    guard left.isReal || right.isReal else { return false }
    return left.value.canonical == right.value.canonical
  }

  @inline(__always)
  private static func hash(
    _ column: BorrowedBytes, _ hasher: KeyedHash, from state: UInt64
  ) -> UInt64 {
    column.isReal ? hashReal(column, hasher, from: state) : hasher.hash(column, from: state)
  }

  @inline(never)
  private static func hashReal(
    _ column: BorrowedBytes, _ hasher: KeyedHash, from state: UInt64
  ) -> UInt64 {
    Record([column.value.canonical]).borrow { hasher.hash($0, from: state) }
  }
}

extension KeyedHash {
  /// The hash of bytes, going on from `state`.
  @inline(__always)
  func hash(_ bytes: BorrowedBytes, from state: UInt64) -> UInt64 {
    hash(bytes.start, count: bytes.count, from: state)
  }
}
