package import Foundation
package import ServerSentEvents

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An event stream that is kept open, over as many connections as it takes.
///
/// It goes on after the last id that was taken, asks again after growing waits, looks into silence, and
/// has a refused token renewed.
package struct EventStream {
  /// What whoever reads is told.
  package enum News {
    /// An answer has begun, or goes on after a silence.
    case opened
    /// A request has no answer yet, and has waited for a while.
    case waiting
    case event(ServerSentEvent)
    /// What has come is all that there is by now.
    case caughtUp
    /// The answer is over; it is asked for again after so long.
    case lost(Loss, again: Duration)
    /// It cannot be had for now; it is asked for again after so long.
    case troubled(RemoteRecordsError, again: Duration)
    /// Two heartbeats have not come. It is looked into; what was said is said again if they come.
    case silent(RemoteRecordsError)
  }

  /// Why an answer is over.
  package enum Loss: Sendable {
    /// The server has ended it.
    case ended
    /// It is one that caches share, which ends by the clock (`protocol.md` §7).
    case rotated
    case broken(any Error)
    /// What has come does not fit.
    case misfit
  }

  /// What whoever reads says to it.
  package enum Verdict {
    case goOn
    /// It does not fit: the next connection begins anew.
    case startOver
    case refuse(RemoteRecordsError)
  }

  /// Why it is over, where nothing is refused.
  package enum End {
    /// There is nothing more to come: 204.
    case over
    /// Something on the way holds streams back, or cuts them.
    case heldBack
    case cancelled
  }

  /// A stream begins with a line at once, and the rest of an event follows its beginning; longer
  /// silence is looked into.
  static let silentStart: Duration = .seconds(3)
  /// One that lived so long was good.
  static let longLife: Duration = .seconds(10)
  /// How long a test of the connection may be silent.
  static let testTime: Duration = .seconds(10)

  let url: URL
  let session: HTTPSession
  let tokens: TokenKeeper?
  /// Where the server's self-test is; nil: what holds streams back is not looked for.
  let testBase: URL?
  /// What the next connection goes on after; empty: nothing.
  package internal(set) var lastEventID: String
  var backoff: Backoff
  /// In bytes.
  let maximumEventSize: Int
  var pulse = Pulse()
  private var cuts = Cuts()

  package init(_ url: URL, session: HTTPSession) {
    self.init(
      url, session: session, tokens: nil, testBase: nil, lastEventID: "",
      settings: LinkSettings())
  }

  init(
    _ url: URL, session: HTTPSession, tokens: TokenKeeper?, testBase: URL?, lastEventID: String,
    settings: LinkSettings
  ) {
    backoff = Backoff(longest: settings.longestWait)
    maximumEventSize = settings.maximumEventSize
    (self.url, self.session, self.tokens) = (url, session, tokens)
    (self.testBase, self.lastEventID) = (testBase, lastEventID)
  }

  /// How one connection ended.
  enum Ending {
    case over
    case heldBack
    case cancelled
    case startOver
    case refused(RemoteRecordsError)
    /// There was none.
    case failed(RemoteRecordsError, wait: Duration)
    /// There was one, which lived so long; the server may have said when it wants its clients back, and
    /// has said it twice where it means to end.
    case lost(Loss, life: Duration, retry: Duration, isAnnounced: Bool)
  }

  /// Reads until it is over or the task is cancelled.
  ///
  /// What comes is told on the caller's actor. It throws what was refused, by the server or by `heard`.
  package nonisolated(nonsending) mutating func run(
    _ heard: (News) -> Verdict
  ) async throws(RemoteRecordsError) -> End {
    while !Task.isCancelled {
      let token: String?
      do {
        token = try await tokens?.get()
      } catch {
        try await pause(.troubled(.token(error)), heard)
        continue
      }
      switch await connection(token, heard) {
      case .over: return .over
      case .heldBack: return .heldBack
      case .cancelled: return .cancelled
      case .startOver:
        lastEventID = ""
        try await pause(.lost(.misfit), heard)
      case .refused(let problem):
        try await renew(token, problem, heard)
      case .failed(let problem, let wait):
        cuts.forget()
        try await pause(.troubled(problem), atLeast: wait, heard)
      case .lost(let loss, let life, let retry, let isAnnounced):
        if life >= Self.longLife { backoff.reset() }
        if life < Self.longLife, !isAnnounced, await isCutOnTheWay(after: life, token) {
          return .heldBack
        }
        // Where all are told the same they do not come back together.
        try await pause(.lost(loss), atLeast: retry / 2, spread: retry, heard)
      }
    }
    return .cancelled
  }

  /// Throws what was refused, where there is no other token.
  private nonisolated(nonsending) mutating func renew(
    _ token: String?, _ problem: RemoteRecordsError, _ heard: (News) -> Verdict
  ) async throws(RemoteRecordsError) {
    guard problem.reason == .signedOut, let tokens else { throw problem }
    do {
      if try await tokens.renew(token) != nil { return }
    } catch {
      return try await pause(.troubled(.token(error)), heard)
    }
    throw problem
  }

  private enum Cause {
    case lost(Loss)
    case troubled(RemoteRecordsError)
  }

  private nonisolated(nonsending) mutating func pause(
    _ cause: Cause, atLeast: Duration = .zero, spread: Duration = .zero,
    _ heard: (News) -> Verdict
  ) async throws(RemoteRecordsError) {
    if Task.isCancelled { return }
    let delay = backoff.next(
      at: .now, atLeast: atLeast, spread: spread, random: .random(in: 0..<1))
    let verdict =
      switch cause {
      case .lost(let loss): heard(.lost(loss, again: delay))
      case .troubled(let problem): heard(.troubled(problem, again: delay))
      }
    if case .refuse(let problem) = verdict { throw problem }
    try? await Task.sleep(for: delay)
  }

  /// Whether something on the way limits how long streams live, and the server is there.
  private nonisolated(nonsending) mutating func isCutOnTheWay(
    after life: Duration, _ token: String?
  ) async -> Bool {
    guard let testBase, cuts.isRegular(life, at: .now) else { return false }
    let fields = HTTPSession.fields(token)
    return await Selftest.isHeldBack(testBase, session, fields, within: Self.testTime) != nil
  }
}
