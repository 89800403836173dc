import Callers
import Dispatch
import FetchedRecords
import HTTP1
import HTTPServer
import HTTPTypes

/// What a request for changes asks for.
struct PollWish: Sendable {
  let subject: StreamSubject
  let opening: StreamOpening
  let terms: PollTerms
}

// Changes for those who cannot keep a stream: `protocol.md` §8.
extension RecordsService {
  /// `GET /v1/queries/{query}/changes`
  func pollChanges(_ request: Request, _ responder: Responder) {
    do {
      let wish = try pollWish(request)
      // A head says nothing of what has changed, and so waits for nothing and reads nothing.
      if request.isHead {
        return responder.respond(
          Response(.ok, [.contentType: "application/json", .cacheControl: "no-cache"]))
      }
      let end = PollTimes.tick(after: Double(wish.terms.wait))
      if let caller { return CallerPoll(self, caller, request, responder, until: end).begin() }
      let giveUp = try lease(wish.subject, for: request) { result in
        switch result {
        case .failure(let problem): responder.respond(Self.response(to: problem))
        case .success(let lease):
          let poll = Poll(lease, wish.opening, wish.terms, until: end, responder, pollTimes)
          // Mostly there is nothing yet, which is found out at once.
          let present = lease.feed.present.version
          if wish.opening.lastEventID.map(present.names) == true { return poll.begin() }
          Poll.queue.async { poll.begin() }
        }
      }
      if let giveUp { responder.whenAbandoned(giveUp) }
    } catch {
      responder.respond(Self.response(to: error))
    }
  }

  /// What a request asks for, of what the caller may see.
  ///
  /// - Throws: ``Problem`` for whatever it does not say as it should.
  func pollWish(_ request: Request) throws -> PollWish {
    let (subject, items) = try subject(of: request, allowing: PollTerms.words)
    var terms = try PollTerms(items)
    terms.isPublic = isSameForEverybody(subject.keys[0].query, request)
    return PollWish(
      subject: subject, opening: try StreamOpening(poll: request, items), terms: terms)
  }

  /// Whether whoever asks for a request's URL is answered the same.
  ///
  /// Where no callers are known here, whoever shows something is known to a proxy, which may answer
  /// others otherwise.
  private func isSameForEverybody(_ query: String, _ request: Request) -> Bool {
    if request.query.contains(where: { $0.name == "access_token" }) { return false }
    guard let gate else { return request.fields[.authorization] == nil }
    return gate.access(of: query).isForAnybody
  }
}
