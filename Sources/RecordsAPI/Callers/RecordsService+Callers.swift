import Callers
import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import JSON

// Who asks, before anything is answered.
extension RecordsService {
  /// The same resources for one caller.
  func with(_ caller: Caller) -> RecordsService {
    var service = self
    service.caller = caller
    return service
  }

  /// Finds out who asks, and lets `body` answer them; where nobody is told from anybody, at once.
  func admit(
    _ request: Request, _ responder: Responder,
    _ body: @escaping @Sendable (RecordsService, Request, Responder) -> Void
  ) {
    guard let gate else { return body(self, request, responder) }
    responder.amend { $0.dependsOnCaller() }
    do {
      let identity = try gate.identify(request)
      if identity != .anonymous { responder.amend { $0.caller = identity.name } }
      guard let key = gate.claimsKey(identity) else {
        return answer(identity, gate, request, responder, body)
      }
      // What was committed before the request was made, holds for it: a sign-out, or a new role.
      refresher.queue.async { [self] in
        refresher.catchUpWithWriters()
        var service = self
        service.commit = refresher.commit
        let goOn = { @Sendable [service] in
          Self.writing.async { service.answer(identity, gate, request, responder, body) }
        }
        // Where the statement takes long, its result comes behind the commit: nobody is refused by the one
        // before.
        if let claims = registry.live(key)?.controller, claims.isToldDelayed {
          return refresher.whenShown(claims, service.commit) { _ in goOn() }
        }
        goOn()
      }
    } catch {
      responder.respond(Self.response(to: error))
    }
  }

  private func answer(
    _ identity: CallerIdentity, _ gate: Gatekeeper, _ request: Request, _ responder: Responder,
    _ body: @escaping @Sendable (RecordsService, Request, Responder) -> Void
  ) {
    withClaims(of: identity, gate, request, responder) { feed in
      do {
        var service = with(try gate.caller(identity, feed))
        service.again = { responder in answer(identity, gate, request, responder, body) }
        body(service, request, responder)
        feed?.release(to: registry)
      } catch {
        // Whoever tries one token after the other leaves nothing behind.
        feed.map { registry.release($0, lingers: false) }
        responder.respond(Self.response(to: error))
      }
    }
  }

  /// Hands over the result of the `claims` statement for somebody; nil: none is needed. It is
  /// released by `body`.
  func withClaims(
    of identity: CallerIdentity, _ gate: Gatekeeper, _ request: Request, _ responder: Responder,
    _ body: @escaping @Sendable (Feed?) -> Void
  ) {
    guard let key = gate.claimsKey(identity) else { return body(nil) }
    // Whoever shows many tokens makes a live query of each.
    let share: Share
    do {
      share = try registry.shares.take([key], for: request.site)
    } catch {
      return responder.respond(Self.response(to: error))
    }
    let giveUp = registry.acquire(key) { result in
      defer { share.end() }
      switch result {
      case .success(let feed): body(feed)
      case .failure(let failure):
        responder.respond(Self.response(to: Problem(failure, hiding: gate)))
      }
    }
    if let giveUp { responder.whenAbandoned(giveUp) }
  }

  /// How long an answer waits for what was committed before the request, where that is soon made: many times
  /// as long as it takes, for on a busy machine all takes many times as long.
  private static let patience = Duration.seconds(2)

  /// Finds a moment between two turns of the engine in which the claims that a caller is known by are
  /// those of the present, and a result is of no commit before them: it would be what others could
  /// read who had these claims then. Where the result is soon made, it is of none before the request
  /// either.
  ///
  /// - Parameters:
  ///   - feed: of the result.
  ///   - row: what says who the caller is.
  ///   - gate: knows callers.
  ///   - isPatient: whether to wait for a result that is soon made.
  ///   - body: is called once, on the engine's queue, with the state to answer from, or with what keeps
  ///     it from being shown; nil: something had to be waited for, and is to be found out again.
  func settle(
    _ feed: Feed, with row: Caller.Row, _ gate: Gatekeeper, isPatient: Bool = true,
    _ body: @escaping @Sendable (Result<Feed.Head, Problem>?) -> Void
  ) {
    refresher.queue.async { [self] in
      let claims = row.feed.controller
      if claims.isToldDelayed {
        return refresher.whenShown(claims, .max) { failure in
          body(failure.map { .failure(Problem($0, hiding: gate)) })
        }
      }
      guard row.feed.isShowing(row.version) else { return body(nil) }
      // Not that of the row: the same may have been nobody's claims for a while since.
      let commit = row.feed.head.snapshot.commit
      let wait = { @Sendable (result: LiveResult, commit: Int) in
        refresher.whenShown(result, commit) { failure in
          body(failure.map { .failure(problem($0, of: feed.key.query)) })
        }
      }
      if let late = feed.late(for: commit) { return wait(late, commit) }
      if isPatient, let late = feed.late(for: self.commit), refresher.isSoonShown(late) {
        return refresher.whenShown(late, self.commit, atMost: Self.patience) { _ in
          settle(feed, with: row, gate, isPatient: false, body)
        }
      }
      if let returning = feed.returning(in: refresher) { return wait(returning, .max) }
      body(.success(feed.head))
    }
  }

  /// What keeps a query from being shown, for who asks.
  func problem(_ failure: FetchFailure, of query: String) -> Problem {
    Problem(caller?.gate.told(failure, of: query) ?? failure)
  }

  /// `POST /v1/tickets`
  func issueTicket(_ request: Request, _ responder: Responder) {
    responder.respond(
      Self.answer {
        try QueryItems(request.query).refuseParameters()
        guard let caller else {
          throw Problem.notFound("everybody may read everything here: nobody needs a ticket")
        }
        let ticket: Ticket
        do throws(TicketError) {
          ticket = try caller.gate.tickets.issue(for: caller.identity, now: Gatekeeper.now)
        } catch .anonymous {
          throw caller.gate.unauthorized("missing", TicketError.anonymous.detail)
        } catch {
          throw Problem(.badRequest, error.detail)
        }
        var response = Self.json { json in
          json.object { json in
            json.member("ticket", ticket.text)
            json.member("expires", Int(ticket.expires))
          }
        }
        response.fields[.cacheControl] = "no-store"
        return response
      })
  }
}

extension Response {
  /// Nobody but this caller may be given it, and not without asking again; but for what says that it
  /// is the same for everybody.
  fileprivate mutating func dependsOnCaller() {
    if isPublic { return }
    if fields[.cacheControl] != "no-store" {
      // Streams forbid more: their events may not be held back to be changed.
      let isStream = if case .stream = body { true } else { false }
      fields[.cacheControl] = isStream ? "private, no-cache, no-transform" : "private, no-cache"
    }
    fields.append(HTTPField(name: .vary, value: "Authorization, Cookie"))
  }
}
