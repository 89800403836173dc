import OrderedResults
import QueryAnalysis

/// What a controller shows: one state of its records.
struct FetchedState: Sendable {
  /// Who made it of what the engine read.
  let maker: RecordsListener
  let results: Results
  /// The results before closures cut them into sections; shares its blocks with the results
  /// otherwise.
  let base: Results
  let query: Query
  let shape: RowShape
  /// Reads whole records, where the results are only an index of them.
  var batches: BatchReader?
  /// What was fetched alongside when the state came about.
  var alongside: (any Sendable)?

  /// The same for an engine, which goes on from here.
  var snapshot: ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: base, number: 0, commit: 0, alongside: [], presented: self)
  }
}

/// What it takes to read whole records by key.
struct BatchReader: Sendable {
  let plan: BatchPlan
  let arguments: QueryArguments
}

/// The way from one state to the next.
struct StateChange: Sendable {
  let old: FetchedState
  let new: FetchedState
  /// Index paths of both; the records are those of the states.
  let changes: ChangeSet

  /// What was fetched alongside the new state.
  var alongside: (any Sendable)? { new.alongside }
}
