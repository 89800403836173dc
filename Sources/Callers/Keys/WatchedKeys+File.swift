import Locks

extension WatchedKeys {
  /// What is known of the keys' file, guarded by the mutex around it.
  struct State {
    var verifier: TokenVerifier
    var generation = 0
    /// What the file had when it was last read.
    var bytes: [UInt8]
    /// The file's status when it was last read; nil where it may change without another one.
    var status: FileStatus?
    var lookedAt: UnixSeconds?
    /// Whether a thread is looking: another goes on with the keys that there are.
    var isLooking = false
    /// What was reported last, and is still so.
    var problem: String?
  }

  func lookAtFile(now: UnixSeconds) {
    guard case .file(let path) = source else { return }
    guard let known = beginLooking(now: now) else { return }
    defer { state.withLock { $0.isLooking = false } }
    let status = FileStatus(path: path)
    if let status, status == known { return }
    read(path, now: now)
  }

  /// The status that is known, if it is this thread's turn to look.
  private func beginLooking(now: UnixSeconds) -> FileStatus?? {
    state.withLock { state in
      // A clock that is set back does not put the next look off.
      if let last = state.lookedAt, now >= last, now < last + Self.interval { return .none }
      guard !state.isLooking else { return .none }
      state.isLooking = true
      state.lookedAt = now
      return .some(state.status)
    }
  }

  private func read(_ path: String, now: UnixSeconds) {
    // What cannot be read now is read at each look, until it can.
    state.withLock { $0.status = nil }
    do throws(KeyProblem) {
      let file = try KeyFile(path: path)
      let isSame = state.withLock { state in
        state.status = file.status.isSettled(at: now) ? file.status : nil
        return state.bytes == file.bytes && state.problem == nil
      }
      if isSame { return }
      let keys = try KeySource.keys(
        file, path: path, algorithms: settings.algorithms, isReplacing: true)
      use(keys, from: file)
    } catch {
      fail(error.message)
    }
  }

  private func use(_ keys: KeySet, from file: KeyFile) {
    let isNews = state.withLock { state in
      let wasBroken = state.problem != nil
      state.problem = nil
      if state.bytes == file.bytes { return wasBroken }
      state.bytes = file.bytes
      state.verifier = TokenVerifier(settings: settings, keys: keys)
      state.generation += 1
      return true
    }
    if isNews { report(.reloaded(keys: keys.count, unused: keys.unused)) }
  }

  private func fail(_ message: String) {
    let isNew = state.withLock { state in
      defer { state.problem = message }
      return state.problem != message
    }
    if isNew { report(.failed(message)) }
  }
}
