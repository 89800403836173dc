import TestSupport

/// Writes SELECTs that search: joins by rowid, subqueries in every place, and the FTS5 table alone.
struct RandomSearchWriter {
  typealias Search = RandomSearchSchema.Search

  let schema: RandomSearchSchema
  var random: RandomSource

  init(_ schema: RandomSearchSchema, _ random: RandomSource) {
    self.schema = schema
    self.random = random
  }

  mutating func select() -> RandomSelect {
    var select: RandomSelect
    let shape: String
    switch random.number(0...13) {
    case 0...2: (select, shape) = (join(), "join")
    case 3...5: (select, shape) = (subquery(), "subquery")
    case 6, 7: (select, shape) = (alone(), "alone")
    case 8: (select, shape) = (grouped(), "groups")
    case 9...12: (select, shape) = conditioned()
    default: (select, shape) = (nested(), "nested")
    }
    select.shape = shape
    if select.groupBy == nil, random.once(in: 10) { select.limit = "3" }
    return select
  }

  /// What is searched for, for the parameter `:q`.
  mutating func words(detail: String) -> String {
    let word = random.pick(["a", "b", "c", "ab", "abc", "running", "á"])
    let other = random.pick(["a", "b", "c", "run"])
    var all = [
      word, word, word, "\(word)*", "\(word) OR \(other)", "\(word) NOT \(other)",
      "\(word) AND \(other)", "(\(word) OR \(other)) NOT ab*",
    ]
    if detail != "none" {
      all += ["title : \(word)", "- title : \(word)", "{title body} : \(word)"]
    }
    if detail == "full" {
      all += [
        "\"\(word) \(other)\"", "NEAR(\(word) \(other), 1)", "^\(word)", "\(word) + \(other)*",
      ]
    }
    return random.pick(all)
  }

  // MARK: - Forms

  private mutating func join() -> RandomSelect {
    let search = random.pick(schema.searches)
    let left = source(search, "s")
    let right = random.pick(["post AS p", "post AS p", "draft AS p", "paper AS p"])
    let equality = random.pick(["s.rowid = p.id", "p.id = s.rowid"])
    var select = RandomSelect(fields: ["p.id AS f0", "p.title AS f1"], sources: [])
    switch random.number(0...4) {
    case 0: select.sources = [right, ", \(left)"]
    case 1: select.sources = [left, "JOIN \(right) ON \(equality)"]
    case 2:
      select.sources = [right, "LEFT JOIN \(left) ON \(equality)"]
      if random.once(in: 2) { select.sources[1] += " AND \(match(search, "s"))" }
    default: select.sources = [right, "JOIN \(left) ON \(equality)"]
    }
    // MATCH is no function that could be asked of a row that is left out.
    let isLeft = select.sources[1].hasPrefix("LEFT")
    if !isLeft, random.number(0...3) > 0 { select.conditions.append(match(search, "s")) }
    if select.sources[1].hasPrefix(",") { select.conditions.append(equality) }
    if random.once(in: 4) {
      let on = random.pick(["t.post = p.id", "t.post = s.rowid", "t.word = s.title"])
      select.sources.append("\(random.pick(["JOIN", "LEFT JOIN"])) tag AS t ON \(on)")
      select.fields.append("t.word AS f2")
    }
    if random.once(in: 3) { select.conditions.append(condition(right)) }
    if random.once(in: 3) {
      select.fields.append("\(isLeft ? "s.body" : function(search, "s")) AS f3")
    }
    if random.once(in: 2) {
      select.order = [random.pick(["f1", "f0 DESC", "p.title DESC", "s.rowid"])]
    }
    return select
  }

  private mutating func subquery() -> RandomSelect {
    let search = random.pick(schema.searches)
    var select = RandomSelect(
      fields: ["id AS f0", "title AS f1"],
      sources: [random.pick(["post", "post", "draft", "paper"])])
    let table = select.sources[0]
    let from = source(search, "s")
    let match = match(search, "s")
    let found = "FROM \(from) WHERE \(match)"
    let own = "\(found) AND s.rowid = \(table).id"
    switch random.number(0...6) {
    case 0, 1:
      let word = random.pick(["IN", "IN", "IN", "NOT IN"])
      select.conditions.append("id \(word) (SELECT rowid \(found))")
    case 2, 3:
      let word = random.pick(["EXISTS", "EXISTS", "NOT EXISTS"])
      select.conditions.append("\(word) (SELECT 1 \(own))")
    case 4:
      select.fields.append("(SELECT \(function(search, "s")) \(own)) AS f2")
    case 5:
      select.fields.append("(SELECT count(*) \(own)) AS f2")
    default:
      select.conditions.append(
        """
        id IN (SELECT t.post FROM tag AS t JOIN \(from) ON s.rowid = t.id WHERE \(match))
        """)
    }
    if random.once(in: 3) { select.conditions.append("title <> 'b'") }
    if random.once(in: 4), table == "post" { select.conditions.append("author = 'x'") }
    if random.once(in: 2) { select.order = [random.pick(["f1", "f1 DESC", "f0 DESC"])] }
    return select
  }

  private mutating func alone() -> RandomSelect {
    let search = random.pick(schema.searches)
    var select = RandomSelect(
      fields: ["rowid AS f0", random.pick(["title AS f1", "*"])], sources: [source(search, "s")])
    if random.number(0...5) > 0 { select.conditions.append(match(search, "s")) }
    if random.once(in: 4) { select.conditions.append("body LIKE '%b%'") }
    for number in 2..<random.number(2...4) {
      select.fields.append("\(function(search, "s")) AS f\(number)")
    }
    if random.once(in: 2) {
      select.order = [random.pick(["rowid", "rowid DESC", "title", "body DESC", "title || body"])]
    } else if random.once(in: 6) {
      select.order = [random.pick(["rank", "bm25(s.\(search.name))"])]
    }
    return select
  }

  private mutating func grouped() -> RandomSelect {
    let search = random.pick(schema.searches)
    var select = RandomSelect(
      fields: ["p.author AS f0", "count(*) AS f1"],
      sources: ["post AS p", "JOIN \(source(search, "s")) ON s.rowid = p.id"])
    select.conditions = [match(search, "s")]
    if random.once(in: 4) {
      select.fields = ["count(*) AS f0", "max(p.at) AS f1", "sum(s.rowid) AS f2"]
      return select
    }
    select.groupBy = "p.author"
    if random.once(in: 3) {
      select.fields = ["p.id AS f0", "count(t.id) AS f1"]
      select.sources.append("LEFT JOIN tag AS t ON t.post = s.rowid")
      select.groupBy = "p.id"
    }
    if random.once(in: 3) { select.having = "count(*) > 1" }
    if random.once(in: 2) { select.order = ["f1 DESC"] }
    return select
  }

  private mutating func nested() -> RandomSelect {
    let search = random.pick(schema.searches)
    let match = match(search, "s")
    let from = source(search, "s")
    var select = RandomSelect(fields: ["id AS f0", "title AS f1"], sources: [])
    switch random.number(0...2) {
    case 0:
      select.sources = ["hit"]
      select.conditions = ["doc IN (SELECT rowid FROM \(from) WHERE \(match))"]
    case 1:
      select.sources = [
        "post",
        "JOIN (SELECT rowid AS doc, title AS found FROM \(from) WHERE \(match)) AS h ON h.doc = id",
      ]
      select.fields.append("found AS f2")
    default:
      select.fields = ["h.doc AS f0", "h.mark AS f1"]
      select.sources = [
        "(SELECT rowid AS doc, \(function(search, "s")) AS mark FROM \(from) WHERE \(match)) AS h",
        "JOIN draft ON draft.id = doc",
      ]
    }
    if random.once(in: 2) { select.order = ["f1"] }
    return select
  }

  // MARK: - Parts

  mutating func source(_ search: Search, _ alias: String) -> String {
    random.once(in: 8)
      ? "\(search.name)(\(query(search))) AS \(alias)" : "\(search.name) AS \(alias)"
  }

  private mutating func query(_ search: Search) -> String {
    random.once(in: 2)
      ? ":q" : "'\(words(detail: search.detail))'"
  }

  mutating func match(_ search: Search, _ alias: String) -> String {
    let query = query(search)
    let table = random.pick([search.name, "\(alias).\(search.name)"])
    switch random.number(0...7) {
    case 0: return "\(table) = \(query)"
    case 1 where search.detail != "none" && !query.contains("title"):
      return "\(alias).\(random.pick(search.columns)) MATCH \(query == ":q" ? "'a'" : query)"
    case 2: return "\(table) MATCH \(query) AND \(table) MATCH '\(words(detail: "none"))'"
    default: return "\(table) MATCH \(query)"
    }
  }

  private mutating func condition(_ table: String) -> String {
    random.pick([
      "p.id > 3", "p.title IS NOT NULL", "s.title <> 'a'", "p.title = s.title",
      table.hasPrefix("post") ? "p.author = 'x'" : "p.id < 9",
    ])
  }

  mutating func function(_ search: Search, _ alias: String) -> String {
    let table = random.pick([search.name, "\(alias).\(search.name)"])
    return random.pick([
      "highlight(\(table), 0, '<', '>')", "highlight(\(table), 0, '<', '>')",
      "snippet(\(table), -1, '<', '>', '…', 3)", "\(alias).title", "\(alias).body",
    ])
  }
}
