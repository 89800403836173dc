import Foundation
import TestSupport
import Testing

/// A server of a database whose files are moved, copied over, cut and removed by another process.
final class RandomFileRun {
  /// What was done, in the operator's words, so that a failure tells the way to it.
  private var history: [String] = []
  private(set) var operations = 0
  private let folder: TemporaryFolder
  private let files: FileOperator
  private let command: Command
  private let client: HTTPClient
  private var random: RandomSource
  private let seed: UInt64
  /// Whether a new connection can read the database, and finds nothing wrong with it.
  private var isWhole = true
  /// What a new connection last saw.
  private var rows: [JSONValue] = []
  private var writes = 0
  private var comparisons = (equal: 0, failing: 0)
  private var slowest = (duration: Duration.zero, operation: "")
  private static let deadline = Duration.seconds(RandomSource.number("FILE_SECONDS") ?? 10)

  init(seed: UInt64) throws {
    self.seed = seed
    random = RandomSource(seed: seed)
    folder = try TemporaryFolder()
    files = try FileOperator(folder.path)
    try files.perform("switch")
    try files.perform("make delete 1 40")
    try files.perform("switch")
    try files.perform("make wal 1 60")
    try files.perform("makeBackup delete 500 30")
    command = try Command.serve([folder.file("music.sqlite"), "--log-level", "error"])
    client = HTTPClient(command.base)
    try compare("the start")
  }

  var summary: String {
    """
    \(operations) operations, \(comparisons.equal) comparisons equal, \(comparisons.failing) where \
    nobody can read, \(writes) writes; the slowest took \(slowest.duration) (\(slowest.operation))
    """
  }

  /// One operation, a comparison, a write, and another comparison.
  func step() throws {
    let words = isWhole ? random.fileOperation() : random.mendingOperation()
    operations += 1
    let wasWhole = isWhole
    for word in words { try perform(word) }
    // A connection that may write undoes what a killed writer did; until then the server shows what
    // it has read.
    if wasWhole, words.count == 1, words[0].hasPrefix("kill"), let shown = try shown() {
      guard shown == rows else { throw failure("a killed writer's rows are shown: \(shown)") }
    }
    try compare(words.joined(separator: "; "))
    guard isWhole else { return }
    try write(words.joined(separator: "; "))
    try compare("a write after \(words.joined(separator: "; "))")
  }

  private func perform(_ words: String) throws {
    let answer = try files.perform(words)
    history.append(words + (answer["error"].string.map { " -- \($0)" } ?? ""))
  }

  /// What the server shows; nil: it says that it cannot.
  private func shown() throws -> [JSONValue]? {
    let page = try client.get("/v1/queries/item/records?limit=10000")
    guard page.status == 200, try client.get("/readyz").status == 200 else { return nil }
    return try page.json["records"].elements.map { record in
      let values = record["record"]
      return .array([values["id"], values["text"]])
    }
  }

  /// Waits until the server shows what a new connection shows.
  private func compare(_ operation: String) throws {
    let start = ContinuousClock.now
    while true {
      let shown = try shown()
      let fresh = try files.perform("read")
      let rows = fresh["error"].string == nil ? fresh["rows"].elements : nil
      if shown == rows {
        note(ContinuousClock.now - start, operation)
        if let rows { self.rows = rows }
        comparisons.equal += rows != nil ? 1 : 0
        comparisons.failing += rows != nil ? 0 : 1
        // In a damaged b-tree a row that a scan finds need not be found by its key.
        isWhole = try rows != nil && files.perform("check")["isSound"] == .bool(true)
        return
      }
      guard ContinuousClock.now - start < Self.deadline else {
        throw failure(
          """
          after \(operation) the server shows \(shown.map { "\($0)" } ?? "nothing"), and a new \
          connection \(fresh)
          """)
      }
    }
  }

  private func write(_ operation: String) throws {
    let start = ContinuousClock.now
    var refusals: Set<String> = []
    while true {
      let answer = try files.perform("write row\(writes)")
      guard let error = answer["error"].string else {
        history.append("write row\(writes)")
        writes += 1
        let reasons = refusals.sorted().joined(separator: ", ")
        return note(ContinuousClock.now - start, "a write after \(operation): \(reasons)")
      }
      refusals.insert(error)
      guard ContinuousClock.now - start < Self.deadline else {
        throw failure("after \(operation) a writer cannot write: \(error)")
      }
    }
  }

  private func note(_ duration: Duration, _ operation: String) {
    if duration > slowest.duration { slowest = (duration, operation) }
  }

  private func failure(_ what: String) -> ContractViolation {
    let answers = ["/readyz", "/v1/queries/item/records?limit=1"].map { path in
      let answer = try? client.get(path)
      return "\(path): \(answer?.status ?? 0) \(answer?.text ?? "no answer")"
    }
    return ContractViolation(
      """
      operation \(operations): \(what)
      \(answers.joined(separator: "\n"))
      again: DIDCHANGE_SEED=\(seed) FILE_STEPS=\(operations) swift test --filter 'Random file'
      \(history.suffix(40).joined(separator: "\n"))
      """)
  }
}
