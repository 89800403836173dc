import Callers
import Dispatch
import FetchedRecords
import HTTPServer
import Locks

/// A caller's request for changes: found out anew, as what the caller may see may be something else.
final class CallerPoll: Sendable {
  private let service: RecordsService
  private let caller: Caller
  private let request: Request
  private let responder: Responder
  private let end: UInt64
  /// Whether the request has its share already.
  private let isGranted = Atomic(false)

  /// - Parameters:
  ///   - service: that of the caller.
  ///   - caller: who asked.
  ///   - request: asks for changes.
  ///   - responder: is given the answer.
  ///   - end: the tick at which it is answered whatever there is.
  init(
    _ service: RecordsService, _ caller: Caller, _ request: Request, _ responder: Responder,
    until end: UInt64
  ) {
    var service = service
    service.again = nil
    self.service = service
    self.caller = caller
    self.request = request
    self.responder = responder
    self.end = end
  }

  /// Finds out who the caller is, and what they may see.
  func begin() {
    service.withClaims(of: caller.identity, caller.gate, request, responder) { [self] claims in
      do {
        let caller = try caller.gate.caller(caller.identity, claims)
        let wish = try service.with(caller).pollWish(request)
        let granted = isGranted.load(ordering: .relaxed)
        let giveUp = try service.with(caller).lease(wish.subject, for: request, goesOn: granted) {
          [self] result in
          switch result {
          case .failure(let problem): fail(problem, caller, claims)
          case .success(let lease):
            isGranted.store(true, ordering: .relaxed)
            service.catchUp(lease, wish.subject, claims, request) { [self] lease in
              poll(lease, wish, caller, claims)
            } orFail: { [self] problem in
              lease.end()
              fail(problem, caller, claims)
            }
          }
        }
        if let giveUp { responder.whenAbandoned(giveUp) }
      } catch {
        refuse(error, claims)
      }
    }
  }

  /// Between two turns of the engine, when the feed is of no earlier commit than the claims.
  private func poll(_ lease: StreamLease, _ wish: PollWish, _ caller: Caller, _ claims: Feed?) {
    guard isSettled(caller, claims) else { return lease.end() }
    // What everybody is told depends on nobody's claims.
    let isPublic = wish.terms.isPublic
    let opening = isPublic ? wish.opening : lease.feed.own(wish.opening, by: claims, caller.gate)
    let watch = PollWatch(caller, claims: claims, service.registry)
    // A session may end before the wait does.
    let left = caller.expires.map { PollTimes.tick(after: $0 - Gatekeeper.now) }
    let poll = Poll(
      lease, opening, notBefore: isPublic ? 0 : claims?.head.snapshot.commit ?? 0, wish.terms,
      until: min(end, left ?? end), responder, service.pollTimes, watch: watch
    ) { [service] in service.problem($0, of: wish.subject.name.query) }
    watch.begin { [self] in poll.startOver { begin() } }
    Poll.queue.async { poll.begin() }
  }

  /// Whether what is known of the caller is of the present; if not, the request begins anew as soon as
  /// it is. Asked between two turns.
  private func isSettled(_ caller: Caller, _ claims: Feed?) -> Bool {
    guard let claims, let row = caller.row else { return true }
    if claims.controller.isToldDelayed {
      service.refresher.whenShown(claims.controller, .max) { [self] failure in
        if let failure { return refuse(Problem(failure, hiding: caller.gate), claims) }
        beginAnew(claims)
      }
      return false
    }
    if claims.isShowing(row.version) { return true }
    beginAnew(claims)
    return false
  }

  private func beginAnew(_ claims: Feed) {
    claims.release(to: service.registry)
    begin()
  }

  /// Refuses the request for what keeps it from being answered, unless the caller would be shown
  /// something else by now.
  private func fail(_ problem: Problem, _ caller: Caller, _ claims: Feed?) {
    service.refresher.queue.async { [self] in
      if isSettled(caller, claims) { refuse(problem, claims) }
    }
  }

  private func refuse(_ error: any Error, _ claims: Feed?) {
    claims?.release(to: service.registry)
    responder.respond(RecordsService.response(to: error))
  }
}
