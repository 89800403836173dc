import Hashing
import Testing

@testable import OrderedResults

@Suite struct RecordTests {
  static let values: [Value] = [
    nil, 0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 2_147_483_647,
    2_147_483_648, -2_147_483_648, -2_147_483_649, .integer(.max), .integer(.min), 0.0, -0.0, 1.0,
    1.5, .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), "", "a", "naïve",
    .text([0xFF, 0]), .text(Array(repeating: 120, count: 60)),
    .text(Array(repeating: 120, count: 61)),
    .text(Array(repeating: 120, count: 8188)), .text(Array(repeating: 120, count: 100_000)),
    .blob([]),
    .blob([0, 1, 255]), .blob(Array(repeating: 7, count: 3_000_000)),
  ]

  @Test func `a record gives back the values of which it was made`() {
    let record = Record(Self.values)
    #expect(record.values == Self.values)
    for (position, value) in Self.values.enumerated() { #expect(record.value(position) == value) }
  }

  @Test func `records are equal if, and only if, all values are, types included`() {
    for (i, left) in Self.values.enumerated() {
      for (j, right) in Self.values.enumerated() {
        // 0.0 and -0.0 are equal numbers but not the same column.
        #expect((Record([7, left]) == Record([7, right])) == (i == j), "\(i) \(j)")
      }
    }
    #expect(Record([1, 2]) != Record([1]))
  }

  @Test func `NaN is NULL, as in SQLite`() {
    #expect(Record([.real(.nan)]) == Record([nil]))
  }

  @Test func `an encoder is used again for the next row`() {
    var encoder = RecordEncoder()
    var records: [Record] = []
    for value in Self.values {
      encoder.begin()
      encoder.append(value)
      encoder.append("after" as Value)
      records.append(encoder.makeRecord())
    }
    #expect(records.map { $0.value(0) } == Self.values)
    #expect(records.allSatisfy { $0.value(1) == "after" })
  }

  @Test func `columns are read in place`() {
    let record = Record([1, nil, 2.5, "text", .blob([1, 2])])
    let texts = record.withColumns { columns in
      var texts: [String] = []
      while let column = columns.next() {
        switch column {
        case .null: texts.append("null")
        case .integer(let integer): texts.append("\(integer)")
        case .real(let real): texts.append("\(real)")
        case .text(let bytes): texts.append(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): texts.append("\(bytes.count) bytes")
        }
      }
      return texts
    }
    #expect(texts == ["1", "null", "2.5", "text", "2 bytes"])
  }

  @Test func `bytes are equal only if every one of them is`() {
    for count in 1...100 {
      var left = (0..<count).map { UInt8($0) }
      let right = left
      #expect(areEqual(left, right))
      for position in 0..<count {
        left[position] ^= 0x80
        #expect(!areEqual(left, right), "byte \(position) of \(count)")
        left[position] ^= 0x80
      }
      #expect(!areEqual(left, Array(right.dropLast())))
    }
  }

  private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        guard let l = left.baseAddress, let r = right.baseAddress else {
          return left.count == right.count
        }
        return BorrowedBytes(start: l, count: left.count)
          .isEqual(to: BorrowedBytes(start: r, count: right.count))
      }
    }
  }

  @Test func `every byte and the length of a key count for its hash`() {
    let hasher = KeyedHash()
    func hash(_ bytes: [UInt8]) -> UInt64 {
      Record([.blob(bytes)]).borrow { hasher.hash($0, from: hasher.seed) }
    }
    var seen: Set<UInt64> = []
    var count = 0
    for length in 0...40 {
      var bytes = [UInt8](repeating: 0, count: length)
      seen.insert(hash(bytes))
      count += 1
      for position in 0..<length {
        bytes[position] = 1
        seen.insert(hash(bytes))
        bytes[position] = 0
        count += 1
      }
    }
    #expect(seen.count == count)
  }
}
