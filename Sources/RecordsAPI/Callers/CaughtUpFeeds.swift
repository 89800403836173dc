import Dispatch
import FetchedRecords
import HTTPServer

// What may be shown to somebody whose claims are of a commit: nothing of one before it, when others
// held.
extension RecordsService {
  /// Hands over a feed, between two turns, that is of no earlier commit than the claims: a query may be
  /// behind, and windows and several queries are written behind theirs.
  ///
  /// - Parameters:
  ///   - lease: of the feed.
  ///   - subject: what it shows.
  ///   - claims: tells of the caller's claims.
  ///   - request: asks for it.
  ///   - body: is called once, if `fail` is not.
  ///   - fail: is called with what keeps the feed from catching up.
  func catchUp(
    _ lease: StreamLease, _ subject: StreamSubject, _ claims: Feed?, _ request: Request,
    _ body: @escaping @Sendable (StreamLease) -> Void,
    orFail fail: @escaping @Sendable (Problem) -> Void
  ) {
    refresher.queue.async { [self] in
      let commit = claims?.head.snapshot.commit ?? 0
      if let late = lease.feed.late(for: commit) {
        return refresher.whenShown(late, commit) { [self] failure in
          if let failure { return fail(problem(failure, of: subject.name.query)) }
          catchUp(lease, subject, claims, request, body, orFail: fail)
        }
      }
      if lease.feed.isUpToDate { return body(lease) }
      guard let alone = subject.alone else {
        // It may wait for one of its queries, which takes long.
        return refresher.queue.async(after: .milliseconds(1)) { [self] in
          catchUp(lease, subject, claims, request, body, orFail: fail)
        }
      }
      do throws(Problem) {
        _ = try self.lease(alone, for: request, goesOn: true) { [self] result in
          switch result {
          case .failure(let problem): fail(problem)
          // It was made just now.
          case .success(let lease): refresher.queue.async { body(lease) }
          }
        }
      } catch {
        fail(error)
      }
    }
  }
}

extension StreamableFeed {
  /// How a caller goes on, where a version is no pass: what came since then may have been nothing for
  /// this caller, whose claims were others before a commit; and what another feed remembers may be
  /// somebody else's.
  ///
  /// - Parameters:
  ///   - opening: how the caller wants it.
  ///   - claims: tells of the caller's claims, between two turns of the engine; nil: no statement does.
  ///   - gate: knows callers.
  /// - Returns: what may be answered.
  func own(_ opening: StreamOpening, by claims: Feed?, _ gate: Gatekeeper) -> StreamOpening {
    let commit = claims?.head.snapshot.commit
    var opening = opening
    opening.mayFollow = { state, key in
      state.isOf(key, in: gate.access(of: key.query).claims.keys) && state.isNotBefore(commit ?? 0)
    }
    guard let commit, let version = opening.lastEventID, !present.version.names(version) else {
      return opening
    }
    let known = log.continuation(after: version)
    if known.version == nil || known.state?.isNotBefore(commit) == true { return opening }
    var anew = StreamOpening(lastEventID: nil, wantsSnapshot: true)
    (anew.heartbeat, anew.retry) = (opening.heartbeat, opening.retry)
    return anew
  }
}
