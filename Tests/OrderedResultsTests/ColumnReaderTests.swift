import Testing

@testable import OrderedResults

@Suite struct ColumnReaderTests {
  /// Both sides of the borders of the integers' sizes.
  static let integers: [Int64] =
    [0, 1, -1, .min, .min + 1, .max - 1, .max]
    + [7, 8, 15, 16, 31, 32, 55, 56].flatMap { bits -> [Int64] in
      let border = Int64(1) << bits
      return [border - 1, border, border + 1, 1 - border, -border, -border - 1]
    }

  /// The column of `value` and `count` bytes behind it, which are all of the record.
  private func withColumn<Result>(
    _ value: Value, then count: Int, of byte: UInt8, _ body: (BorrowedBytes) -> Result
  ) -> Result {
    var bytes = Record([value]).borrow { record in
      Array(UnsafeRawBufferPointer(start: record.start, count: record.count))
    }
    bytes += [UInt8](repeating: byte, count: count)
    return bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("a column of no bytes") }
      return body(BorrowedBytes(start: start, count: buffer.count))
    }
  }

  @Test(arguments: integers, [0x00, 0xFF] as [UInt8])
  func `an integer is read ahead whatever stands behind it`(integer: Int64, byte: UInt8) {
    for count in 0...9 {
      withColumn(.integer(integer), then: count, of: byte) { bytes in
        var columns = bytes.columns
        #expect(columns.peekInteger() == integer, "\(count) bytes behind it")
        let isFast = bytes.count > 8 && 1.littleEndian == 1
        #expect(columns.peekIntegerFast() == (isFast ? integer : nil), "\(count) bytes behind it")
        guard case .integer(integer) = columns.next() else {
          Issue.record("\(integer) is not read after it was read ahead")
          return
        }
      }
    }
  }

  static let others: [Value] = [
    nil, "", "1", .text(Array(repeating: 1, count: 100)), .blob([]), .blob([1]), 0.5, -0.5, 1e300,
    .real(0x1p63), .real(.infinity), .real(.leastNonzeroMagnitude),
  ]

  @Test(arguments: others, [0x00, 0xFF] as [UInt8])
  func `what is no integer is not read ahead as one`(value: Value, byte: UInt8) {
    for count in 0...9 {
      withColumn(value, then: count, of: byte) { bytes in
        #expect(bytes.columns.peekInteger() == nil, "\(count) bytes behind it")
        #expect(bytes.columns.peekIntegerFast() == nil, "\(count) bytes behind it")
      }
    }
  }

  @Test(arguments: [0, -0.0, 3, -200, 0x1p62, -0x1p63])
  func `a real is read ahead as the integer that it equals`(real: Double) {
    for count in 0...9 {
      withColumn(.real(real), then: count, of: 0xFF) { bytes in
        #expect(bytes.columns.peekInteger() == Int64(real))
        #expect(bytes.columns.peekIntegerFast() == nil)
      }
    }
  }
}
