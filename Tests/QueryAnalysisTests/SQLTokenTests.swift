import Testing

@testable import QueryAnalysis

@Suite struct `Tokens of SQL` {
  @Test(arguments: [
    ("a -- b\r c\nd", ["a", "d"]), ("a\r\nb--\r\nc", ["a", "b", "c"]),
    ("'\u{301}x' /* ' */ y", ["'\u{301}x'", "y"]),
    ("\"a\"\"\u{301}\" b", ["\"a\"\"\u{301}\"", "b"]),
    ("a\u{A0}b\u{2028}c d", ["a\u{A0}b\u{2028}c", "d"]),
    ("x'00' [a]] b]", ["x'00'", "[a]", "]", "b", "]"]),
    (":a\u{301} /* open", [":a\u{301}"]), ("a/**/b/*/ c */d", ["a", "b", "d"]),
  ])
  func `text is cut where SQLite cuts it`(sql: String, tokens: [String]) {
    #expect(SQLTokens.tokens(of: sql).map { Array($0.text.utf8) } == tokens.map { Array($0.utf8) })
  }

  @Test(arguments: [
    ("x IN t", "x IN (SELECT * FROM t)"), ("x IN/* */t;", "x IN/* */(SELECT * FROM t);"),
    ("x NOT IN main.\"a b\" AND y IN (1)", "x NOT IN (SELECT * FROM main.\"a b\") AND y IN (1)"),
    (
      "x IN (SELECT y IN c FROM t) = z in d",
      "x IN (SELECT y IN (SELECT * FROM c) FROM t) = z in (SELECT * FROM d)"
    ),
    ("x IN f(1) OR y IN main.f (2)", "x IN f(1) OR y IN main.f (2)"),
    ("'x IN t' IN (1) -- IN t", "'x IN t' IN (1) -- IN t"),
    ("x IN 't' AND IN", "x IN 't' AND IN"), ("x IN", "x IN"),
  ])
  func `a table behind IN is written out`(sql: String, written: String) {
    #expect(sql.withTablesOfInAsSelects == written)
  }

  @Test func `a name is what is between its quotes`() {
    let names = SQLTokens.tokens(of: "\"a\"\"\u{301}b\"\"\" `c``` [d\"] e").map(\.name)
    #expect(names == ["a\"\u{301}b\"", "c`", "d\"", "e"])
  }
}
