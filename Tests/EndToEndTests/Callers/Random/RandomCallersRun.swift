import TestSupport
import Testing

/// A server, a foreign writer, and callers who come and go.
final class RandomCallersRun {
  typealias Asked = CallersHistory.Asked

  static let asked: [Asked] = [
    Asked(query: "orders"), Asked(query: "shelf"), Asked(query: "ledger"),
    Asked(query: "shelf", window: 2..<9), Asked(query: "orders", window: 0..<3),
  ]

  let fixture: ServerFixture
  private let writer: CallersWriter
  private let client: HTTPClient
  private let seed: UInt64
  var random: RandomSource
  var history = CallersHistory()
  /// The server was at this transaction, of all callers and queries.
  private var settled = 0
  /// The server has told a caller of a refusal after this transaction.
  private var floors: [String: Int] = [:]
  var streams: [RandomCallerStream] = []
  /// What clients had when they left, with whose it was.
  var memories: [(model: ClientModel, caller: String, asked: Asked)] = []
  private(set) var counts: [String: Int] = [:]
  /// What was answered while a transaction was under way, judged when it is known.
  private var open: [(seen: JSONValue, caller: String, asked: Asked, from: Int)] = []
  private var deeds: [String] = []

  init(seed: UInt64) throws {
    self.seed = seed
    random = RandomSource(seed: seed)
    fixture = try ServerFixture(
      RandomSource.callersSchema, queries: Shop.queries, words: Shop.callers)
    writer = try CallersWriter(fixture.path, callers: RandomSource.callers)
    client = fixture.client()
    let start = RandomSource.callers.enumerated().map { index, name in
      Shop.signIn(name, "\(1 + index % 4), 'customer', \(1 + index % 3), NULL")
    }
    try write(start.joined(separator: "; ")) {}
    try settle()
  }

  var summary: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }

  func count(_ what: String) { counts[what, default: 0] += 1 }

  func note(_ deed: String) { deeds.append("  \(deed)") }

  /// After which transaction at the earliest an answer to a caller is that is asked for now.
  func floor(_ caller: String) -> Int { max(settled, floors[caller] ?? 0) }

  /// One transaction, with what clients do meanwhile; every now and then all are compared.
  func step() throws {
    do {
      try write(random.callersTransaction()) {
        for _ in 0..<random.number(0...3) { try act() }
      }
      for _ in 0..<random.number(0...2) { try act() }
      try judge()
      try takeAll()
      if random.once(in: 8) { try settle() }
    } catch {
      throw ContractViolation(
        """
        DIDCHANGE_SEED=\(seed), transaction \(history.last): \(error)
        what was done (transactions, and between them what clients did):
        \(deeds.suffix(60).joined(separator: "\n"))
        """)
    }
  }

  private func write(_ sql: String, meanwhile: () throws -> Void) throws {
    deeds.append("\(history.last + 1): \(sql)")
    try writer.begin(sql)
    try meanwhile()
    history.append(sql, try writer.end())
    try judge()
  }

  /// Holds what was answered against all transactions so far.
  private func judge() throws {
    for answer in open {
      _ = try history.place(answer.seen, answer.caller, answer.asked, from: answer.from)
    }
    open = []
  }

  private func act() throws {
    let caller = random.pick(RandomSource.callers)
    let asked = random.pick(Self.asked)
    switch random.number(0...11) {
    case 0, 1, 2, 3: open.append(try page(caller, asked))
    case 10, 11: open.append(try poll(caller, asked))
    case 4: if !streams.isEmpty { leave(at: random.number(0...streams.count - 1)) }
    default: if streams.count < 30 { try openStream(caller, asked) }
    }
  }

  // MARK: - Pages

  /// A page, and since when it can be true.
  private func page(
    _ caller: String, _ asked: Asked
  ) throws -> (seen: JSONValue, caller: String, asked: Asked, from: Int) {
    let from = floor(caller)
    let all = asked.items.isEmpty ? "?limit=1000" : asked.items
    let answer = try client.get("/v1/queries/\(asked.query)/records\(all)", Shop.bearer(caller))
    note("\(caller) gets \(asked): \(answer.status)")
    count("a page with \(answer.status)")
    guard answer.status == 200 else { return (.number("\(answer.status)"), caller, asked, from) }
    let records = try answer.json["records"].elements.map { $0["record"] }
    return (.array(records), caller, asked, from)
  }

  /// A refusal, which is held against the transaction under way as well.
  func judgeLater(_ status: Int, _ caller: String, _ asked: Asked, from: Int) {
    open.append((.number("\(status)"), caller, asked, from))
  }

  // MARK: - Streams

  private func leave(at index: Int) {
    let stream = streams.remove(at: index)
    note("\(stream.caller) leaves \(stream.asked)")
    stream.follower.stream.close()
    memories.append((stream.follower.model, stream.caller, stream.asked))
  }

  /// Takes what has come on all streams.
  private func takeAll() throws {
    for stream in streams {
      while !stream.isOver, stream.hasNews { try take(stream) }
    }
    streams.removeAll(where: \.isOver)
  }

  func take(_ stream: RandomCallerStream) throws {
    try stream.take(in: history)
    guard let status = stream.refusal else { return }
    count("a stream ended with \(status)")
    note("\(stream.caller)'s stream of \(stream.asked) ends with \(status)")
    floors[stream.caller] = max(floor(stream.caller), stream.position)
    memories.append((stream.follower.model, stream.caller, stream.asked))
  }

  // MARK: - All of them

  /// Waits until all that is shown is what is true now.
  func settle() throws {
    for caller in RandomSource.callers {
      for asked in Self.asked {
        let truth = history.truth(caller, asked, after: history.last)
        try eventually("\(caller) gets of \(asked): \(truth)") {
          let page = try page(caller, asked)
          _ = try history.place(page.seen, caller, asked, from: page.from)
          return page.seen == truth
        }
      }
    }
    for stream in streams {
      let truth = history.truth(stream.caller, stream.asked, after: history.last)
      while !stream.isOver, stream.seen != truth { try take(stream) }
    }
    streams.removeAll(where: \.isOver)
    settled = history.last
    note("all is as it should be after \(settled)")
    count("comparison of all")
  }
}
