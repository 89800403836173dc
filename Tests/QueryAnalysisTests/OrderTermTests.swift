import Testing

@testable import QueryAnalysis

@Suite struct `A term of ORDER BY` {
  @Test(
    arguments: [
      ("name", "name", nil, false, nil),
      ("name desc", "name", nil, true, nil),
      ("name COLLATE NOCASE DESC NULLS LAST", "name", "NOCASE", true, true),
      (
        "coalesce(a, 'x desc') -- the end\n collate \"rtrim\" ASC nulls first",
        "coalesce(a, 'x desc')", "rtrim", false, false
      ),
      ("(name COLLATE NOCASE)", "(name COLLATE NOCASE)", nil, false, nil),
      ("\"desc\"", "\"desc\"", nil, false, nil),
      ("[a b] /* DESC */", "[a b]", nil, false, nil),
      ("last", "last", nil, false, nil),
    ] as [(String, String, String?, Bool, Bool?)])
  func `is taken apart`(
    text: String, expression: String, collation: String?, isDescending: Bool, nullsLast: Bool?
  ) {
    let term = OrderTerm(text)
    #expect(term.expression == expression)
    #expect(term.collation == collation)
    #expect(term.isDescending == isDescending)
    #expect(term.nullsLast == nullsLast)
  }
}
