/// A row of one of the SELECTs that UNION ALL joins.
struct RowOfArm {
  let arm: Int64
  let rowID: Int64

  /// - Parameter values: the number of the SELECT, and the rowid.
  init(_ values: [Int64]) { (arm, rowID) = (values[0], values[1]) }

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
