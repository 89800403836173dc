import Dispatch

extension LiveResult {
  /// Somebody who waits until a commit is shown.
  final class Awaiting: Sendable {
    let commit: Int
    let body: @Sendable (FetchFailure?) -> Void

    init(commit: Int, body: @escaping @Sendable (FetchFailure?) -> Void) {
      self.commit = commit
      self.body = body
    }
  }

  /// Whether it shows what a commit made of it: the state of that one or of a later one, or the
  /// present.
  ///
  /// On the engine's queue only, between two turns.
  package func shows(_ commit: Int) -> Bool {
    snapshot.commit >= commit || (!isToldDelayed && failure == nil && !isLetGo)
  }

  /// Why it shows a commit no sooner for being waited for; nil: it is being brought up to date.
  fileprivate var obstacle: FetchFailure? { isLetGo ? .ending : isToldDelayed ? nil : failure }
}

// Those who may show a result of a commit, and of none before it.
extension Refresher {
  /// Waits until a live result shows a commit, or nothing more can be waited for.
  ///
  /// On ``queue`` only.
  ///
  /// - Parameters:
  ///   - result: what is waited for.
  ///   - commit: which it is to show; `.max` is the present.
  ///   - patience: how long to wait at most; nil: as long as it takes.
  ///   - body: is called on ``queue`` between two turns, once, with what keeps the result from showing
  ///     the commit; nil: it ``LiveResult/shows(_:)`` it, or did a moment ago, or that took too long.
  package func whenShown(
    _ result: LiveResult, _ commit: Int, atMost patience: Duration? = nil,
    _ body: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    access.preconditionInTurn()
    let awaiting = LiveResult.Awaiting(commit: commit, body: body)
    if isOver(awaiting, result) { return call(awaiting, result) }
    result.awaiting.append(awaiting)
    guard let patience else { return }
    access.async(after: .milliseconds(Int(patience / .milliseconds(1)))) {
      guard let index = result.awaiting.firstIndex(where: { $0 === awaiting }) else { return }
      result.awaiting.remove(at: index).body(nil)
    }
  }

  /// Whether a live result is behind, and there is no reason why it should be so for long.
  ///
  /// On ``queue`` only.
  package func isSoonShown(_ result: LiveResult) -> Bool {
    failure == nil && result.failure == nil && result.isToldDelayed && !result.isLetGo
      && !isKnownAsLong(result)
  }

  /// It is kept up to date no longer.
  func letGo(_ result: LiveResult) {
    result.isLetGo = true
    for awaiting in result.awaiting { call(awaiting, result) }
    result.awaiting = []
  }

  /// Calls those who have not to wait any more, when all that was found has been told.
  func callAwaiting(_ result: LiveResult) {
    guard !result.awaiting.isEmpty else { return }
    let called = result.awaiting.filter { isOver($0, result) }
    result.awaiting.removeAll { isOver($0, result) }
    answers.append { [self] in
      for awaiting in called { call(awaiting, result) }
    }
  }

  private func isOver(_ awaiting: LiveResult.Awaiting, _ result: LiveResult) -> Bool {
    result.shows(awaiting.commit) || result.obstacle != nil
  }

  private func call(_ awaiting: LiveResult.Awaiting, _ result: LiveResult) {
    access.async { awaiting.body(result.shows(awaiting.commit) ? nil : result.obstacle) }
  }
}
