import Callers

extension CallerStream {
  /// What a caller may see, and until when.
  struct View {
    let subject: StreamSubject
    let expires: UnixSeconds?
  }

  struct State {
    /// What is shown now, or will be when its feed is there; nil: that is not known yet.
    var subject: StreamSubject?
    /// What the stream's position is of; nil: it has not begun.
    var shown: StreamLease?
    /// Counts what was decided; what was decided before is not carried out any more.
    var decision = 0
    /// The decision that is carried out.
    var arrived = 0
    /// Commits that changed the claims, and those of which it is known what they mean: where there are
    /// more of the first, nothing is sent.
    var changes = 0
    var known = 0
    /// Whether the claims of the last commit are still being read.
    var isDelayed = false
    /// What the last commit that changed the claims means.
    var found: Result<View, any Error>?
    /// Whether the caller might have seen something else at some commit since what is shown was
    /// decided: the log has what they may not see, even where they may see the same again.
    var hasDeparted = false
    /// Whether the stream was granted.
    var isGranted = false
    /// Whether the stream was told that nobody knows who the caller is.
    var isTold = false
    /// Whether it was told nothing else since.
    var hasFailed = false
    /// What the next body shows as well as the one that it follows.
    var kept: StreamLease?
    var expires: UnixSeconds?
    /// Whether it was told that its time is over, which it may not have read yet.
    var hasExpired = false
    var isOver = false

    /// Whether it is known what the last commit means for the caller.
    var isSettled: Bool { changes == known && !isDelayed }

    /// Whether a body ends and not what it shows.
    mutating func takeKept(_ lease: StreamLease) -> Bool {
      defer { if kept === lease { kept = nil } }
      return kept === lease
    }
  }
}
