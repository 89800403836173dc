import OrderedResults
import Testing

@Suite struct `Numbers of primary keys` {
  private func number(_ values: Value..., collation: Collation = .binary) -> Int64 {
    TableKey(
      columns: values.map { _ in "" }, collations: values.map { _ in collation }
    ).number(of: values)
  }

  @Test func `are the same for what a key takes for equal`() {
    #expect(number(.integer(1)) == number(.real(1)))
    #expect(number(.integer(0)) == number(.real(-0.0)))
    #expect(number(.text("Ab"), collation: .noCase) == number(.text("aB"), collation: .noCase))
    #expect(
      number(.text("a\0b"), collation: .noCase) == number(.text("A\0c"), collation: .noCase))
    #expect(number(.text("a  "), collation: .rtrim) == number(.text("a"), collation: .rtrim))
    #expect(number(.text(" "), collation: .rtrim) == number(.text(""), collation: .rtrim))
  }

  @Test func `are others for what is not equal`() {
    let numbers: [Int64] = [
      number(.null), number(.integer(0)), number(.integer(1)), number(.integer(.max)),
      number(.real(9.223372036854775807e18)), number(.real(0.5)), number(.text("")),
      number(.text("1")), number(.blob([])), number(.blob([0x31])), number(.text("a")),
      number(.text("A")), number(.text("a ")), number(.text("ä"), collation: .noCase),
      number(.text("Ä"), collation: .noCase), number(.text("a\0b"), collation: .noCase),
      number(.text("a\0bc"), collation: .noCase), number(.text("a"), .text("bc")),
      number(.text("ab"), .text("c")), number(.text("abc"), .text("")),
      number(.text(""), .text("abc")), number(.integer(1), .integer(2)),
      number(.integer(2), .integer(1)),
    ]
    #expect(Set(numbers).count == numbers.count)
  }
}
