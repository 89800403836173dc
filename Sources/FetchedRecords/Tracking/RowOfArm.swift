import OrderedResults

/// A row of one of the SELECTs that UNION joins.
struct RowOfArm {
  let arm: Int64
  /// Its rowid, or what stands for it.
  let rowID: Int64

  init(arm: Int64, rowID: Int64) { (self.arm, self.rowID) = (arm, rowID) }

  /// The row of a number.
  init(number: Int64, of arms: Int) {
    let arms = Int64(arms)
    // Rounded down, for the rowid may be negative.
    arm = (number % arms + arms) % arms
    rowID = (number - arm) / arms
  }

  /// A number for it among those of so many SELECTs; nil: the rowid is too large for one.
  func number(of arms: Int) -> Int64? {
    let (product, isTooLarge) = rowID.multipliedReportingOverflow(by: Int64(arms))
    let (number, isTooLargeStill) = product.addingReportingOverflow(arm)
    return isTooLarge || isTooLargeStill ? nil : number
  }
}

// The SELECTs that UNION joins: for each the key of its rows, where they have no rowid.
extension [TableKey?] {
  /// How many values tell a row: as many as the longest key has.
  private var width: Int { reduce(1) { Swift.max($0, $1?.columns.count ?? 1) } }

  /// The number of a row of one of them, whose rowid is known, or the number that its key has.
  func number(ofRow row: Int64, arm: Int) -> Int64? {
    // Half of a hash, so that there is room for the SELECT's number.
    let rowID = self[arm] == nil ? row : (row >> 1) / Int64(count)
    return RowOfArm(arm: Int64(arm), rowID: rowID).number(of: count)
  }

  /// The number of a row by the SELECT's number and what identifies the row there.
  func number(of values: [Value]) -> Int64? {
    guard let arm = arm(of: values) else { return nil }
    if let key = self[arm] { return number(ofRow: key.number(of: self.key(of: values)), arm: arm) }
    guard case .integer(let rowID) = values[1] else { return nil }
    return number(ofRow: rowID, arm: arm)
  }

  /// The key among these values, of a row without a rowid.
  func key(of values: [Value]) -> [Value] {
    guard let arm = arm(of: values), let key = self[arm] else { return [] }
    return Array<Value>(values.dropFirst().prefix(key.columns.count))
  }

  private func arm(of values: [Value]) -> Int? {
    guard case .integer(let arm)? = values.first, indices.contains(Int(arm)) else { return nil }
    return Int(arm)
  }

  /// By what a row of a number is read; nil: its key is not known.
  func values(of number: Int64, _ keys: RowKeys) -> [Value]? {
    let row = RowOfArm(number: number, of: count)
    let isKeyed = self[Int(row.arm)] != nil
    guard let key = isKeyed ? keys[number] : [.integer(row.rowID)] else { return nil }
    return [.integer(row.arm)] + key + Array<Value>(repeating: .null, count: width - key.count)
  }
}
