import Dispatch
import Locks

/// The requests that wait for the next event of one log.
///
/// Costs an append nothing but a look where nobody waits, and else one piece of work for all.
final class WaitingPolls: Sendable {
  /// What those have in common who are told the same.
  struct Group: Hashable {
    let version: String?
    let commit: Int
  }

  private struct State {
    var polls: [Group: [ObjectIdentifier: Poll]] = [:]
    /// Whether somebody will look what there is for them.
    var isWoken = false
    var isClosed = false
  }

  private let isEmpty = Atomic(true)
  private let state = Mutex(State())

  /// - Returns: whether anything more can come.
  func add(_ poll: Poll) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.polls[poll.group, default: [:]][ObjectIdentifier(poll)] = poll
      isEmpty.store(false, ordering: .sequentiallyConsistent)
      return true
    }
  }

  func remove(_ poll: Poll) {
    state.withLock { state in
      state.polls[poll.group]?[ObjectIdentifier(poll)] = nil
      if state.polls[poll.group]?.isEmpty == true { state.polls[poll.group] = nil }
      if state.polls.isEmpty { isEmpty.store(true, ordering: .sequentiallyConsistent) }
    }
  }

  /// Something was appended; from any thread.
  func wake() {
    if isEmpty.load(ordering: .sequentiallyConsistent) { return }
    let isFirst = state.withLock { state in
      defer { state.isWoken = true }
      return !state.isWoken
    }
    if isFirst { Poll.queue.async { [self] in answer() } }
  }

  /// Nothing more will come: who waits is answered at once, and who would wait.
  func close() {
    state.withLock { $0.isClosed = true }
    wake()
  }

  private func answer() {
    let (groups, isClosed) = state.withLock { state in
      state.isWoken = false
      return (state.polls.values.map { Array($0.values) }, state.isClosed)
    }
    for polls in groups { Poll.answer(polls, inAnyCase: isClosed) }
  }
}
