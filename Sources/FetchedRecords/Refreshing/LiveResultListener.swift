import GRDB
import OrderedResults
import QueryAnalysis

/// Who a live result is for: says what it is of, and hears what becomes of it.
///
/// Called in turns of the engine, and in its read transactions where they are handed over; it must
/// not wait for anything.
protocol LiveResultListener: AnyObject, Sendable {
  /// Names the query in the statistics.
  var queryName: String { get }

  /// What the result is of under the schema that `db` sees now.
  ///
  /// - Parameters:
  ///   - db: in a transaction.
  ///   - known: an analysis of the same definition under the same schema, if there is one.
  /// - Returns: the query and the values of its parameters.
  /// - Throws: why there is none under this schema.
  func bind(in db: Database, reusing known: (QueryDefinition) -> Query?) throws -> BoundQuery

  /// Whether what it is of is found in the words of its query; else it is asked after each change of the
  /// schema.
  var goesByWords: Bool { get }

  /// Whether to ``bind(in:reusing:)`` takes an analysis of the query, some milliseconds, because the schema
  /// has changed: one waits for its turn then.
  var awaitsAnalysis: Bool { get }

  /// What there is of the result before its first fetch; asked in the transaction of that.
  func known(of bound: BoundQuery, in transaction: ReadTransaction) -> KnownResult?

  /// A next state was worked out, on whatever thread: what takes long and will be asked of it is found
  /// out there, and not in the turn that shows it.
  ///
  /// - Parameters:
  ///   - results: the state.
  ///   - old: the one before; nil: it is the first.
  func prepare(_ results: Results, after old: Results?)

  /// A next state was worked out beside the queue that follows commits, and will be told next, unless it
  /// turns out to be of files that are gone: what takes long is made of it there.
  ///
  /// - Parameters:
  ///   - changes: what is different.
  ///   - old: the state before.
  ///   - new: as it will be shown.
  func prepare(_ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot)

  /// Something happened; the transaction is over.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - sleepers: takes those who have something to do now; they are woken when the turn is over.
  func receive(_ event: LiveResultEvent, _ sleepers: inout Sleepers)

  /// Whether it is told of a commit before others are.
  var hearsFirst: Bool { get }

  /// The result may not be seen again: what is to be kept of it, is kept now.
  func save(_ result: LiveResult)
}

/// A query under one schema, and the values of its parameters.
struct BoundQuery: Sendable {
  /// Makes of a next state what its listener shows, in the transaction that read it; what it throws
  /// refuses the state.
  typealias Presentation =
    @Sendable (inout LiveUpdate, _ old: ResultsSnapshot, ReadTransaction) throws -> Void

  let query: Query
  let arguments: QueryArguments
  /// nil: the state is shown as it is.
  var present: Presentation?
  /// The offsets of the result that are shown, where it is a window that is live by itself.
  var window: Range<Int>?
}

/// What is known of a result before it is fetched.
enum KnownResult {
  /// What an earlier life of the process showed last: the first fetch is compared with it.
  case earlier(ResultsSnapshot)
  /// The present: nothing needs to be fetched.
  case present(Results)
}

extension LiveResultListener {
  var hearsFirst: Bool { false }
  var goesByWords: Bool { true }
  var awaitsAnalysis: Bool { false }

  func prepare(_ results: Results, after old: Results?) {}

  func prepare(_ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot) {}
}
