import TestSupport

// SELECTs whose searches stand in views, in ON, in WITH and beside other subqueries.
extension RandomSearchWriter {
  /// - Returns: the SELECT, and its shape in a word.
  mutating func conditioned() -> (RandomSelect, String) {
    let search = random.pick(schema.searches)
    var select = RandomSelect(
      fields: ["p.id AS f0", "p.title AS f1"], sources: ["post AS p"])
    if random.once(in: 3) { select.order = [random.pick(["f1", "f1 DESC", "f0 DESC"])] }
    let shape =
      random.once(in: 2) ? addJoin(with: search, to: &select) : addSearch(in: search, to: &select)
    return (select, shape)
  }

  private mutating func found(_ search: RandomSearchSchema.Search) -> String {
    "FROM \(source(search, "s")) WHERE \(match(search, "s"))"
  }

  private mutating func addJoin(
    with search: RandomSearchSchema.Search, to select: inout RandomSelect
  ) -> String {
    let join = random.pick(["JOIN", "LEFT JOIN"])
    let exists = random.pick(["EXISTS", "EXISTS", "NOT EXISTS"])
    switch random.number(0...3) {
    case 0:
      let other = random.pick(["tag AS t WHERE t.post", "draft AS d WHERE d.id"])
      select.sources.append(
        """
        \(join) (SELECT s.rowid AS doc, \(function(search, "s")) AS mark \(found(search)) \
        AND \(exists) (SELECT 1 FROM \(other) = s.rowid)) AS h ON h.doc = p.id
        """)
      select.fields.append("h.mark AS f2")
      return "FROM"
    case 1:
      select.sources.append(
        """
        \(join) tag AS t ON t.post = p.id AND \(exists) (SELECT 1 \(found(search)) \
        AND s.rowid = t.\(random.pick(["id", "post"])))
        """)
      select.fields.append("t.word AS f2")
      return "ON"
    case 2:
      select.sources.append("LEFT JOIN \(search.name) AS s ON s.rowid = p.id")
      let condition = random.pick([
        "(s.title IS NULL OR s.body LIKE '%b%')", "coalesce(s.title, 'b') <> p.title",
      ])
      select.conditions = [condition]
      select.fields.append("s.title AS f2")
      return "WHERE on LEFT JOIN"
    default:
      select.sources = ["\(search.name) AS s", "RIGHT JOIN post AS p ON s.rowid = p.id"]
      select.fields.append("s.title AS f2")
      return "RIGHT JOIN"
    }
  }

  private mutating func addSearch(
    in search: RandomSearchSchema.Search, to select: inout RandomSelect
  ) -> String {
    switch random.number(0...4) {
    case 0:
      select.sources = ["tagged AS p"]
      select.fields.append("p.tags AS f2")
      if random.once(in: 2) {
        select.conditions = ["p.id IN (SELECT s.rowid \(found(search)))"]
      } else {
        select.sources.append("JOIN \(source(search, "s")) ON s.rowid = p.id")
        select.conditions = [match(search, "s")]
        select.fields.append("\(function(search, "s")) AS f3")
      }
      return "views with subqueries"
    case 1:
      select.sources.append("JOIN \(search.name) AS s ON s.rowid = p.id")
      let words = "SELECT coalesce(max(word), 'a') FROM tag WHERE tag.id = \(random.number(1...4))"
      select.conditions = [
        "s.\(search.name) MATCH (\(words))",
        "\(function(search, "s")) \(random.pick(["<>", "="])) s.title",
      ]
      select.fields.append("\(function(search, "s")) AS f2")
      return "words of a subquery"
    case 2:
      select.commonTables = ["found AS (SELECT s.rowid AS doc \(found(search)))"]
      let condition = random.pick([
        "p.id IN (SELECT doc FROM found)", "EXISTS (SELECT 1 FROM found WHERE found.doc = p.id)",
        "NOT EXISTS (SELECT 1 FROM found WHERE found.doc = p.id)",
      ])
      select.conditions = [condition]
      return "WITH"
    case 3:
      select.conditions = ["p.id IN (SELECT s.rowid \(found(search)))"]
      select.others = ["SELECT s.rowid, \(function(search, "s")) \(found(search))"]
      select.order = select.order.map { _ in "1" }
      return "UNION ALL"
    default:
      select.conditions = ["p.id IN (SELECT s.rowid \(found(search)))"]
      select.fields.append("count(*) OVER (PARTITION BY p.author) AS f2")
      return "windows"
    }
  }
}
