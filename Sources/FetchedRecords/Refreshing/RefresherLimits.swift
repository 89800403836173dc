import HeldMemory
import QueryAnalysis

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

  /// A statement alongside that takes longer than this is not run at each commit: the rows that it
  /// aggregates are followed, in the memory that they take. So are those of which a query shows one, or which
  /// its FROM has up to LIMIT.
  ///
  /// 25 µs: about as long as to follow a changed row.
  package var dearStatement = Duration.microseconds(25)

  /// Groups that take longer than this to be read are made of what their rows come to, which are followed, if they can
  /// be.
  ///
  /// 250 µs: some thousand rows. To follow them takes their memory.
  package var dearGroup = Duration.microseconds(250)

  /// Where an index gives the order, windows of a result of more records are live by themselves, as
  /// long as they are few; those of a smaller one are cut from the whole.
  ///
  /// 50 000: held in some megabytes and fetched in some tens of milliseconds.
  package var recordsOfWhole = 50_000

  /// Records of one result.
  package var resultRows = 20_000_000

  /// Bytes of all that the server holds.
  package var memory = SystemMemory.share

  /// Bytes of one result: its records as they are held.
  ///
  /// A quarter of ``memory`` and at most 1 GiB, so that one result neither takes the room of all
  /// others nor makes them all go.
  package var resultBytes: Int {
    get { ownResultBytes ?? min(1 << 30, memory / 4) }
    set { ownResultBytes = newValue }
  }

  private var ownResultBytes: Int?

  /// Bytes of one value: while it is read SQLite has it, the row that is being made, and the record.
  ///
  /// Whatever is configured, a schema must fit, whose statements are values of a table.
  var valueBytes: Int {
    isOfExploration ? Self.leastValueBytes : max(resultBytes / 4, Self.leastValueBytes)
  }

  /// 1 MiB.
  private static let leastValueBytes = 1 << 20

  /// The same for a query that somebody explores by, whose values are as short as they may be: one
  /// call of a function, which nothing ends, takes some seconds then, and not for ever.
  var ofExploration: RefresherLimits {
    var limits = self
    limits.isOfExploration = true
    return limits
  }

  /// Those under which a query runs.
  func of(_ definition: QueryDefinition) -> RefresherLimits {
    definition.isExplored ? ofExploration : self
  }

  private(set) var isOfExploration = false

  package init() {}

  /// For a program's own queries.
  static let none: RefresherLimits = {
    var limits = RefresherLimits()
    (limits.memory, limits.resultRows, limits.resultBytes) = (.max, .max, .max)
    // Some thirty years.
    limits.statement = .seconds(1_000_000_000)
    return limits
  }()
}
