import OrderedResults

/// What a controller's fetch or refresh gave.
struct FetchedState: Sendable {
  let results: Results
  let shape: RowShape
}

/// The way from one state to the next.
struct StateChange: Sendable {
  let old: FetchedState
  let new: FetchedState
  /// Index paths of both; the records are those of the states.
  let changes: ChangeSet
  let alongside: (any Sendable)?
}
