import Testing

@testable import RecordsAPI

/// What is reported for a text, one problem a line.
func problems(_ yaml: String) -> [String] {
  do {
    _ = try Configuration.parse(yaml, file: "c")
    return []
  } catch {
    return error.problems.map(\.description)
  }
}

@Suite struct `A problem of a configuration` {
  @Test(arguments: [
    ("", "c:1:1: the file is empty; begin with \"queries:\", or leave the file out"),
    ("# nothing\n", "c:1:1: the file is empty; begin with \"queries:\", or leave the file out"),
    (
      "- a",
      "c:1:1: the configuration is a list, not a mapping; write WORD: VALUE, with the words "
        + "database, listen, hosts, queries, limits, timeouts, cors, proxies, accessLog, callers, versionKey, caches, columns"
    ),
    (
      "databse: a.db",
      "c:1:1: \"databse\" is not a word of the configuration; did you mean \"database\"?"
    ),
    ("port: 80", "c:1:1: \"port\" is not a word of the configuration; did you mean \"listen\"?"),
    (
      "color: red",
      "c:1:1: \"color\" is not a word of the configuration; the words are database, listen, hosts, "
        + "queries, limits, timeouts, cors, proxies, accessLog, callers, versionKey, caches, columns"
    ),
    (
      "table: t",
      "c:1:1: \"table\" is not a word of the configuration; indent it below the name of a query in "
        + "\"queries:\""
    ),
    (
      "queries: {a: {table: t, cache: yes}}",
      "c:1:32: `cache` is text, not a truth value; write true or false"
    ),
    (
      "queries: {a: {table: t, order: [b], orders: {c: [d]}}}",
      "c:1:45: the query \"a\" has both `order` and `orders`; keep one of the two: the first of "
        + "`orders` holds where no other is asked for"
    ),
    (
      "queries: {a: {table: t, orders: [b]}}",
      "c:1:33: `orders` is a list, not a mapping; write NAME: [name COLLATE NOCASE]"
    ),
    (
      "queries: {a: {table: t, orders: {\"b c\": [d], e: f, g: []}}}",
      "c:1:34: the name \"b c\" does not fit into a URL, because of \" \"; use letters of ASCII, digits, "
        + "\"-\", \".\", \"_\" and \"~\", as in \"b-c\"\n"
        + "c:1:49: the order \"e\" is text, not a list; write [f]\n"
        + "c:1:55: the order \"g\" is empty; name at least one, or leave the word out"
    ),
    (
      "queries: {a: {sql: SELECT 1, orders: {b: [c]}}}",
      "c:1:38: `orders` goes with `table`, not with `sql`; write it into the SQL"
    ),
    ("database: 12", "c:1:11: `database` is the number 12, not text; put it in quotes: \"12\""),
    ("database:", "c:1:10: `database` is nothing, not text"),
    ("database: ' '", "c:1:11: `database` is empty; write a value, or leave the word out"),
    ("queries: [a]", "c:1:10: `queries` is a list, not a mapping; write NAME: {table: …}"),
    ("queries: {}", "c:1:10: `queries` is empty; write NAME: {table: …}, or leave the word out"),
    (
      "{1: {}, [a]: b}",
      "c:1:2: \"1\" is not a word of the configuration; the words are "
        + "database, listen, hosts, queries, limits, timeouts, cors, proxies, accessLog, callers, versionKey, caches, columns\nc:1:9: a name is a list, not text"
    ),
  ])
  func `of the file is told with its place`(yaml: String, problem: String) {
    #expect(problems(yaml).joined(separator: "\n") == problem)
  }

  @Test(arguments: [
    ("8080", "is the number 8080, not HOST:PORT; write 127.0.0.1:8080"),
    ("localhost", "\"localhost\" has no port"), ("localhost:http", "\"http\" is not a port"),
    ("localhost:+80", "\"+80\" is not a port"), ("localhost:65536", "\"65536\" is not a port"),
    ("'localhost:'", "\"\" is not a port"), ("':80'", "\":80\" has no host"),
    ("'::1:80'", "put the address in brackets"), ("'[::g]:80'", "neither a host name nor an IP"),
    ("256.0.0.1:80", "neither a host name nor an IP"), ("a b:80", "neither a host name"),
    ("-a:80", "neither a host name"), ("true", "is the truth value true, not text"),
  ])
  func `of the address names what is wrong with it`(address: String, problem: String) throws {
    let found = problems("listen: \(address)")
    try #require(found.count == 1)
    #expect(found[0].hasPrefix("c:1:9: `listen`"))
    #expect(found[0].contains(problem))
  }

  @Test(arguments: [
    (
      "{}", 11,
      "the query \"a\" has neither `table` nor `sql`; name a table or view, or write a SELECT"
    ),
    (
      "t", 14,
      "the query \"a\" is text, not a mapping; write WORD: VALUE, "
        + "with the words \(QueryWord.listed)"
    ),
    (
      "{table: t, sql: SELECT 1}", 30,
      "the query \"a\" has both `table` and `sql`; keep one of the two"
    ),
    (
      "{sql: SELECT 1, fields: [x]}", 38,
      "`fields` goes with `table`, not with `sql`; write it into the SQL"
    ),
    (
      "{sql: SELECT 1, order: [x]}", 37,
      "`order` goes with `table`, not with `sql`; write it into the SQL"
    ),
    ("{table: t, wehre: x}", 25, "\"wehre\" is not a word of a query; did you mean \"where\"?"),
    ("{table: t, filter: x}", 25, "\"filter\" is not a word of a query; did you mean \"where\"?"),
    (
      "{table: t, groupby: [x]}", 25,
      "\"groupby\" is not a word of a query; did you mean \"groupBy\"?"
    ),
    ("{table: t, title: 12}", 32, "`title` is the number 12, not text; put it in quotes: \"12\""),
    (
      "{table: t, title: true}", 32,
      "`title` is the truth value true, not text; put it in quotes: \"true\""
    ),
    ("{table: t, where: [x]}", 32, "`where` is a list, not text"),
    ("{table: t, order: x}", 32, "`order` is text, not a list; write [x]"),
    ("{table: t, order: []}", 32, "`order` is empty; name at least one, or leave the word out"),
    (
      "{table: t, order: [1]}", 33,
      "an item of `order` is the number 1, not text; put it in quotes: \"1\""
    ),
    (
      "{table: t, order: ['x, y']}", 33,
      "\"x, y\" is more than one term; write each term as an item of its own"
    ),
    (
      "{table: t, sectionIndexTitle: x}", 44, "`sectionIndexTitle` needs a `section`; add `section`"
    ),
    (
      "{table: t, alongside: SELECT 1}", 36,
      "`alongside` is text, not a mapping; write NAME: SELECT …"
    ),
    (
      "{table: t, alongside: {n: 1}}", 40,
      "`alongside` \"n\" is the number 1, not text; put it in quotes: \"1\""
    ),
  ])
  func `of a query is told with its place`(query: String, column: Int, problem: String) {
    #expect(problems("queries: {a: \(query)}") == ["c:1:\(column): \(problem)"])
  }

  @Test(arguments: ["['f(a, b)']", "[\"'(' || a\"]", "['\"a,b\"', '[c,(d]']"])
  func `is not seen in a comma that belongs to its term`(fields: String) {
    #expect(problems("queries: {a: {table: t, fields: \(fields)}}").isEmpty)
  }

  @Test func `of a slip in the form is told once`() {
    #expect(
      problems("queries: {a: {tabel: t}}") == [
        "c:1:15: \"tabel\" is not a word of a query; did you mean \"table\"?"
      ])
  }

  @Test func `of a list that was cut at a comma shows both pieces`() {
    let cut = "put an item that contains a comma in quotes"
    let why = "is cut in two: its parentheses do not match"
    #expect(
      problems("queries: {a: {table: t, order: [f(a, b)]}}") == [
        "c:1:33: \"f(a\" \(why); \(cut)", "c:1:38: \"b)\" \(why); \(cut)",
      ])
  }

  @Test(arguments: [
    (
      "a/b",
      "because of \"/\"; use letters of ASCII, digits, \"-\", \".\", \"_\" and \"~\", as in \"a-b\""
    ),
    ("a b", "because of \" \""), ("größe", "because of \"ö\""), ("a?b", "because of \"?\""),
    ("a%20b", "because of \"%\""), (".", "cannot be the name of a query"),
    ("..", "cannot be the name of a query"), ("", "cannot be the name of a query"),
  ])
  func `of a query's name says what does not fit into a URL`(
    name: String, problem: String
  ) throws {
    let found = problems("queries: {\"\(name)\": {table: t}}")
    try #require(found.count == 1)
    #expect(found[0].hasPrefix("c:1:11: "))
    #expect(found[0].contains(problem))
  }

  @Test(arguments: [
    (
      "p: text", 41,
      "the parameter \"p\" is text, not a mapping; write WORD: VALUE, with the words type, default, claim"
    ),
    (
      "p: {}", 38,
      "the parameter \"p\" has no `type`; add type: text, or "
        + "type: integer, or type: real, or type: blob"
    ),
    ("p: {type: string}", 48, "\"string\" is not a type; did you mean \"text\"?"),
    ("p: {type: interger}", 48, "\"interger\" is not a type; did you mean \"integer\"?"),
    ("p: {type: colour}", 48, "\"colour\" is not a type; the types are text, integer, real, blob"),
    (
      "p: {type: text, defualt: x}", 54,
      "\"defualt\" is not a word of a parameter; did you mean \"default\"?"
    ),
    (
      "p: {type: text, default: 75}", 63,
      "`default` is the number 75, not text; put it in quotes: \"75\""
    ),
    ("p: {type: text, default: [a]}", 63, "`default` is a list, not text"),
    (
      "p: {type: text, default: }", 63,
      "`default` is nothing, not text; write null for NULL, or leave the word out"
    ),
    (
      "p: {type: integer, default: '7'}", 66,
      "`default` is text, not an integer; write it without quotes: 7"
    ),
    (
      "p: {type: integer, default: 7.5}", 66,
      "`default` is the number 7.5, not an integer; write a whole number, or say type: real"
    ),
    (
      "p: {type: integer, default: true}", 66,
      "`default` is the truth value true, not an integer; write 1"
    ),
    (
      "p: {type: integer, default: 9223372036854775808}", 66,
      "`default` is the number 9223372036854775808, not an integer; an integer has at most 64 bits"
    ),
    ("p: {type: real, default: .nan}", 63, "`default` is the number .nan, not a finite number"),
    ("p: {type: blob, default: '*'}", 63, "`default` is not base64; a blob is written as base64"),
    (
      "':p': {type: text}", 38,
      "the name \":p\" begins with \":\", which belongs to the SQL; "
        + "write \"p\" here and \":p\" in the SQL"
    ),
    (
      "2p: {type: text}", 38,
      "\"2p\" cannot be the name of a parameter; use letters of ASCII, "
        + "digits and \"_\", and begin with no digit"
    ),
  ])
  func `of a parameter is told with its place`(
    parameter: String, column: Int, problem: String
  ) {
    let found = problems("queries: {a: {table: t, parameters: {\(parameter)}}}")
    #expect(found == ["c:1:\(column): \(problem)"])
  }

  @Test(arguments: ParameterName.reserved)
  func `of a reserved parameter lists what is reserved`(name: String) throws {
    let found = problems("queries: {a: {table: t, parameters: {\(name): {type: text}}}}")
    try #require(found.count == 1)
    #expect(found[0].hasPrefix("c:1:38: the name \"\(name)\" is reserved"))
  }
}
