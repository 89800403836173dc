/// A row of one of the SELECTs that UNION ALL joins.
struct RowOfPart {
  let part: Int64
  let rowID: Int64

  /// - Parameter values: the number of the SELECT, and the rowid.
  init(_ values: [Int64]) { (part, rowID) = (values[0], values[1]) }

  /// The row of a number.
  init(number: Int64, of parts: Int) {
    let parts = Int64(parts)
    // Rounded down, for the rowid may be negative.
    part = (number % parts + parts) % parts
    rowID = (number - part) / parts
  }

  /// A number for it among those of so many SELECTs; nil: the rowid is too large for one.
  func number(of parts: Int) -> Int64? {
    let (product, isTooLarge) = rowID.multipliedReportingOverflow(by: Int64(parts))
    let (number, isTooLargeStill) = product.addingReportingOverflow(part)
    return isTooLarge || isTooLargeStill ? nil : number
  }
}
