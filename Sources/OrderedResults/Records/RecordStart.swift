/// The first few bytes of a record, which tell most others from it at one go.
struct RecordStart {
  private let bytes: UInt64
  private let mask: UInt64

  /// A record's first column, as far as 8 bytes hold it.
  ///
  /// Nil if the record is shorter than that.
  init?(firstColumnOf record: BorrowedBytes) {
    guard record.count >= 8 else { return nil }
    let column = record.column(0)
    mask = column.count < 8 ? (1 << UInt64(8 * column.count) - 1).littleEndian : .max
    bytes = record.start.loadUnaligned(as: UInt64.self) & mask
  }

  /// Whether another record may begin so; one that is shorter than 8 bytes always may.
  @inline(__always)
  func isSame(_ record: BorrowedBytes) -> Bool {
    record.count < 8 || record.start.loadUnaligned(as: UInt64.self) & mask == bytes
  }
}
