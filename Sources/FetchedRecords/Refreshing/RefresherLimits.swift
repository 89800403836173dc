/// What one query may take of the server, so that none keeps the others waiting or takes the memory
/// of all.
package struct RefresherLimits: Sendable, Equatable {
  /// How long one statement may run; then it is ended, and the query fails.
  ///
  /// 10 s: longer than any list that a person waits for.
  package var statement = Duration.seconds(10)

  /// Connections on which queries run that take longer than a few milliseconds.
  ///
  /// Four: a long query leaves others for those that are shorter, and more would only share the
  /// same processors.
  package var readers = 4

  /// Records of one result.
  package var resultRows = 20_000_000

  /// Bytes of one result: its records as they are held.
  package var resultBytes = 1 << 30

  package init() {}

  /// For a program's own queries.
  static let none: RefresherLimits = {
    var limits = RefresherLimits()
    (limits.resultRows, limits.resultBytes) = (.max, .max)
    // Some thirty years.
    limits.statement = .seconds(1_000_000_000)
    return limits
  }()
}

/// Counts a result while it is fetched.
struct ResultMeter {
  let limits: RefresherLimits
  private var rows = 0
  private var bytes = 0

  init(_ limits: RefresherLimits) { self.limits = limits }

  /// - Throws: `FetchFailure` where the result is larger than a limit.
  @inline(__always)
  mutating func add(_ size: Int) throws {
    rows += 1
    bytes += size
    if rows > limits.resultRows || bytes > limits.resultBytes { throw excess }
  }

  private var excess: FetchFailure {
    rows > limits.resultRows
      ? FetchFailure(
        kind: .tooLarge,
        detail: "the result has more than \(limits.resultRows) records, the most that "
          + "`limits: resultRows` grants one query: narrow it by a condition or LIMIT")
      : .tooManyBytes(limits)
  }
}

extension FetchFailure {
  static func tooManyBytes(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .tooLarge,
      detail: "the result takes more than \(limits.resultBytes) bytes, the most that "
        + "`limits: resultBytes` grants one query: narrow it by a condition, LIMIT or fewer columns"
    )
  }

  static func tooLong(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .tooLong,
      detail: "the query takes longer than \(limits.statement / .seconds(1)) s, the most that "
        + "`timeouts: statement` grants it: an index may help, or a narrower condition")
  }
}
