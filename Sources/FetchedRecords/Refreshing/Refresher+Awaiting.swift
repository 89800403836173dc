import Dispatch

extension LiveResult {
  /// Somebody who waits until a commit is shown.
  struct Awaiting {
    let commit: Int
    let body: @Sendable () -> Void
  }

  /// Whether it shows what a commit made of it: the state of that one or of a later one, or the
  /// present.
  ///
  /// On the engine's queue only, between two turns.
  package func shows(_ commit: Int) -> Bool {
    snapshot.commit >= commit || (!isToldDelayed && failure == nil && !isLetGo)
  }

  /// Why it shows a commit no sooner for being waited for; nil: it is being brought up to date.
  ///
  /// On the engine's queue only, between two turns.
  package var obstacle: FetchFailure? { isLetGo ? .ending : isToldDelayed ? nil : failure }
}

// Those who may show a result of a commit, and of none before it.
extension Refresher {
  /// Waits for a live result that is behind.
  ///
  /// On ``queue`` only.
  ///
  /// - Parameters:
  ///   - result: what is waited for.
  ///   - commit: which it is to show; `.max` is the present.
  ///   - body: is called on ``queue`` between two turns, once: where it ``LiveResult/shows(_:)`` the
  ///     commit, and where nothing more can be waited for, since it fails or was let go.
  package func whenShown(
    _ result: LiveResult, _ commit: Int, _ body: @escaping @Sendable () -> Void
  ) {
    access.preconditionInTurn()
    guard live.contains(result), result.isToldDelayed, !result.shows(commit) else {
      return access.async(body)
    }
    result.awaiting.append(LiveResult.Awaiting(commit: commit, body: body))
  }

  /// It is kept up to date no longer.
  func letGo(_ result: LiveResult) {
    result.isLetGo = true
    for awaiting in result.awaiting { access.async(awaiting.body) }
    result.awaiting = []
  }

  /// Calls those who have not to wait any more, when all that was found has been told.
  func callAwaiting(_ result: LiveResult) {
    guard !result.awaiting.isEmpty else { return }
    let mayWait = live.contains(result) && result.isToldDelayed
    let called = result.awaiting.filter { !mayWait || result.shows($0.commit) }
    result.awaiting.removeAll { !mayWait || result.shows($0.commit) }
    guard !called.isEmpty else { return }
    answers.append { [self] in
      for awaiting in called { access.async(awaiting.body) }
    }
  }
}
