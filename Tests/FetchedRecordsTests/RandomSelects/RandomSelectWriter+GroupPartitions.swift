import TestSupport

// Groups beside others of their partition, as teams with their places in each league.
extension RandomSelectWriter {
  mutating func selectOfPartitionedGroups() -> RandomSelect {
    var (select, sources) = rows(atMost: 2)
    let source = random.pick(sources)
    var owner = exactColumn(of: source)
    if sources.count == 1, let expression = source.table.expressions.first, random.once(in: 4) {
      owner = expression
    }
    let other = exactColumn(of: random.pick(sources))
    let terms = [owner, other, aggregate(sources)]
    let keys = random.once(in: 2) ? [0, 1] : [1, 0]
    select.groupBy = keys.map { terms[$0] }.joined(separator: ", ")
    if random.once(in: 3) { select.having = "count(*) > \(random.number(0...1))" }
    select.fields = terms.enumerated().map { "\($1) AS f\($0)" }
    let isOver = random.once(in: 2)
    let words = isOver ? terms.indices.map { "f\($0)" } : terms
    if isOver {
      let inner = select.sql
      select = RandomSelect(fields: words, sources: ["(\(inner)) AS s"])
      if random.once(in: 3) { select.conditions = ["f2 > \(random.number(0...2))"] }
    }
    for number in 0..<random.number(1...2) {
      let key = keys.map { words[$0] }
      select.fields.append("\(functionOfGroups(words, key: key)) AS p\(number)")
    }
    if random.once(in: 3) {
      var around = over("(\(select.markedSQL)) AS r", named: ["f0", "f1", "f2", "p0"])
      around.conditions.append("p0 \(random.pick(["= 1", "<= 2", "> 1", "IS NOT NULL"]))")
      select = around
    } else {
      select.order = random.pick([[], [], ["p0"], ["f0", "p0 DESC"], ["f2 DESC", "f1"]])
      if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    }
    select.shape = "partitions of groups"
    return select
  }

  /// A window function that does not depend on which of equal groups comes first.
  ///
  /// - Parameters:
  ///   - words: what they are grouped by, first what they are partitioned by, and an aggregate.
  ///   - key: what they are grouped by, as GROUP BY says it.
  /// - Returns: an expression that calls it.
  private mutating func functionOfGroups(_ words: [String], key: [String]) -> String {
    let partition = random.pick([
      words[0], words[0], words[0], words[1], "\(words[0]), \(words[1])", "", "",
    ])
    let clause = partition.isEmpty ? "" : "PARTITION BY \(partition)"
    let value = words[2]
    let down = random.pick(["", " DESC", " DESC NULLS LAST"])
    let function: String
    if random.once(in: 2) {
      let unwritten = RandomSelect.unwritten(
        key.map { down.contains("DESC") ? "\($0) DESC" : $0 })
      let last = random.pick([", \(words[0]), \(words[1])", unwritten])
      let (call, frame) = random.pick([
        ("row_number()", ""), ("lag(\(value))", ""), ("lead(\(words[1]), 1, 'none')", ""),
        ("first_value(\(words[1]))", ""), ("avg(\(value))", " ROWS 2 PRECEDING"),
        ("sum(\(value))", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"), ("ntile(2)", ""),
      ])
      function = "\(call) OVER (\(clause) ORDER BY \(value)\(down)\(last)\(frame))"
    } else {
      let call = random.pick([
        "rank()", "rank()", "dense_rank()", "count(*)", "sum(\(value))", "cume_dist()",
      ])
      let order = random.once(in: 4) ? "" : " ORDER BY \(value)\(down)"
      function = "\(call) OVER (\(clause)\(order))"
    }
    return random.once(in: 4) ? "coalesce(\(function), 0) || '-' || \(words[1])" : function
  }
}
