import OrderedResults

/// What a controller's fetch or refresh gave.
struct FetchedState: Sendable {
  let results: Results
  let shape: RowShape
  /// Reads whole records, where the results are only an index of them.
  var batches: BatchReader?
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
  let alongside: (any Sendable)?
}
