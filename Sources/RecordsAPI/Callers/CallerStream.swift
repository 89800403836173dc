import Callers
import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import Locks

/// The stream of one caller, which goes on as the caller's claims do.
///
/// The `claims` statement tells of a commit before the queries that the stream shows tell of it: the
/// stream is held then, and goes on when it is known what the caller may see at that commit.
final class CallerStream: Sendable {
  private let service: RecordsService
  private let identity: CallerIdentity
  private let gate: Gatekeeper
  private let claims: Feed?
  private let request: Request
  private let opening: StreamOpening
  private let subject: @Sendable (RecordsService) throws -> StreamSubject
  private let remote = StreamRemote()
  private let state: Mutex<State>

  /// - Parameters:
  ///   - service: that of the caller.
  ///   - caller: who asked.
  ///   - claims: tells of the caller's claims, and is released when the stream is over.
  ///   - opening: how it begins.
  ///   - request: asks for it.
  ///   - subject: what a caller is shown who asks so.
  init(
    _ service: RecordsService, _ caller: Caller, _ claims: Feed?, _ opening: StreamOpening,
    _ request: Request, _ subject: @escaping @Sendable (RecordsService) throws -> StreamSubject
  ) {
    var service = service
    // A stream asks by itself, and would hold what the first answer was made from.
    service.again = nil
    self.service = service
    identity = caller.identity
    gate = caller.gate
    self.claims = claims
    self.request = request
    self.opening = opening
    self.subject = subject
    state = Mutex(State(expires: caller.expires))
  }

  /// Answers with the stream, once there is something to show.
  func begin(_ responder: Responder) {
    gate.add(self)
    claims?.listen(self) { [weak self] event, _, _ in self?.claimsChanged(event) }
    open(responder)
  }

  /// Reads what the caller may see; anew, where that changed while it was read.
  private func open(_ responder: Responder) {
    let (decision, goesOn) = state.withLock { ($0.decision, $0.isGranted) }
    do {
      let view = try present()
      let subject = view.subject
      state.withLock { ($0.subject, $0.expires) = (subject, view.expires) }
      let giveUp = try service.lease(subject, for: request, goesOn: goesOn) { [self] result in
        switch result {
        case .failure(let problem): fail(responder, decision, problem)
        case .success(let lease):
          state.withLock { $0.isGranted = true }
          service.catchUp(lease, subject, claims, request) { [self] lease in
            begin(lease, decision, responder)
          } orFail: { [self] problem in
            fail(responder, decision, problem)
          }
        }
      }
      if let giveUp { responder.whenAbandoned(giveUp) }
    } catch {
      refuse(responder, error)
    }
  }

  /// Refuses the stream for what keeps it from being shown, unless the caller would be shown something
  /// else by now.
  private func fail(_ responder: Responder, _ decision: Int, _ problem: Problem) {
    service.refresher.queue.async { [self] in
      if waitForClaims(responder) { return }
      isCurrent(decision) ? refuse(responder, problem) : open(responder)
    }
  }

  /// Opens the stream when the claims are known again, if they are not now.
  private func waitForClaims(_ responder: Responder) -> Bool {
    guard let claims = claims?.controller, claims.isToldDelayed else { return false }
    service.refresher.whenShown(claims, .max) { [self] failure in
      guard let failure else { return open(responder) }
      refuse(responder, Problem(failure, hiding: gate))
    }
    return true
  }

  /// Between two turns of the engine, when the claims and the feeds are of the same commit.
  private func begin(_ lease: StreamLease, _ decision: Int, _ responder: Responder) {
    if waitForClaims(responder) { return }
    let commit = claims?.head.snapshot.commit ?? 0
    let beginning = lease.feed.beginning(own(opening, of: lease.feed), notBefore: commit)
    let isCurrent = state.withLock { state in
      guard state.decision == decision, state.isSettled else { return false }
      (state.shown, state.arrived, state.hasDeparted) = (lease, decision, false)
      remote.release()
      return true
    }
    guard isCurrent else { return open(responder) }
    endWhenExpired(after: Gatekeeper.now)
    var body = body(beginning, lease)
    body.remote = remote
    responder.respond(Response(events: body, EventFormat(request)))
  }

  /// How the stream begins, which the engine waits for.
  private func own(_ opening: StreamOpening, of feed: any StreamableFeed) -> StreamOpening {
    var opening = feed.own(opening, by: claims, gate)
    opening.mayFollow = { [mayFollow = opening.mayFollow] state, key in
      mayFollow(state, key)
        && max(feed.present.numberOfRecords, state.numberOfRecords) <= RecordsService.quickSearch
    }
    return opening
  }

  private func body(_ beginning: StreamBeginning, _ lease: StreamLease) -> StreamBody {
    service.body(beginning, lease.feed, EventFormat(request), opening.heartbeat) { [self] in
      if state.withLock({ $0.takeKept(lease) }) { return }
      lease.end()
      // A redirection ends a body and not the stream.
      if state.withLock({ $0.shown === lease }) { end() }
    }
  }

  private func refuse(_ responder: Responder, _ error: any Error) {
    end()
    responder.respond(RecordsService.responseToStream(request, error))
  }

  /// The stream is over, or never began.
  private func end() {
    let wasOver = state.withLock { state in
      defer { (state.isOver, state.shown) = (true, nil) }
      return state.isOver
    }
    guard !wasOver else { return }
    gate.remove(self)
    guard let claims else { return }
    claims.stopListening(self)
    claims.release(to: service.registry)
  }

  // MARK: - What the caller may see

  /// What the caller may see by the claims of this moment, and until when.
  private func present() throws -> View {
    let caller = try gate.caller(identity, claims)
    return View(subject: try subject(service.with(caller)), expires: caller.expires)
  }

  /// A commit changed the caller's claims. Called in the refresher's turn, before anything of that
  /// commit is in a log.
  private func claimsChanged(_ event: LiveResultEvent) {
    // What they mean is found out now: until it is carried out they may have changed back.
    let found: Result<View, any Error>? =
      switch event {
      case .changed, .reset, .failed, .recovered: Result { try present() }
      case .delayed, .fetching, .landed, .counted: nil
      }
    state.withLock { state in
      state.changes += 1
      if let found {
        state.found = found
        if (try? found.get().subject) != state.subject { state.hasDeparted = true }
      }
      switch event {
      case .delayed: (state.isDelayed, state.hasDeparted) = (true, true)
      case .landed(let isCurrent): state.isDelayed = !isCurrent
      case .failed: state.isDelayed = false
      case .changed, .reset, .recovered, .counted, .fetching: break
      }
      remote.hold()
    }
    service.refresher.queue.async { [weak self] in self?.decide() }
  }

  /// What the caller may see may be something else by now, whatever their claims are.
  func reconsider() {
    let found = Result { try present() }
    state.withLock { state in
      state.changes += 1
      state.found = found
      if (try? found.get().subject) != state.subject { state.hasDeparted = true }
      remote.hold()
    }
    service.refresher.queue.async { [weak self] in self?.decide() }
  }

  /// Ends the stream after a whole event: nobody is known any more in the way that this caller was.
  func leave() {
    let isShown = state.withLock { state in
      state.decision += 1
      return state.shown != nil
    }
    if isShown { remote.redirect { _ in .end(Retry.line()) } }
  }

  /// Carries out what the commits so far mean for the caller. Called between two turns.
  private func decide() {
    let (changes, isDelayed, found) = state.withLock { ($0.changes, $0.isDelayed, $0.found) }
    // Held until it lands.
    if isDelayed { return }
    do {
      let view = try found?.get() ?? present()
      let next = state.withLock { state -> Int? in
        (state.known, state.expires, state.isTold) = (changes, view.expires, false)
        let isThere =
          state.subject == view.subject && state.arrived == state.decision && !state.hasDeparted
        if isThere, state.shown != nil {
          if state.isSettled { remote.release() }
          return nil
        }
        // A stream that has not begun yet begins with it.
        state.subject = view.subject
        state.decision += 1
        return state.shown == nil ? nil : state.decision
      }
      endWhenExpired(after: Gatekeeper.now)
      if let next { show(view.subject, next) }
    } catch {
      let problem = Problem(error)
      if problem.status.kind == .serverError { return tell(problem) }
      state.withLock { $0.known = changes }
      finish(with: problem, of: error as? RefusedMember)
    }
  }

  /// Tells what keeps the server from knowing who the caller is, once; the stream is held until it
  /// does.
  private func tell(_ problem: Problem) {
    let name = state.withLock { state -> MemberName? in
      defer { state.isTold = true }
      return state.isTold || state.shown == nil ? nil : state.subject?.name
    }
    guard let name else { return }
    let bytes = ChangeEvents.failure(problem, member: name)
    remote.redirect { [self] position in
      let lease = state.withLock { state in
        (state.kept, state.hasDeparted, state.hasFailed) = (state.shown, true, true)
        return state.shown
      }
      guard let lease else { return wait() }
      remote.hold()
      return .stream(body(StreamBeginning([.bytes(bytes)], position), lease))
    }
  }

  /// Goes on with something else, from what the client has.
  private func show(_ subject: StreamSubject, _ decision: Int) {
    do {
      _ = try service.lease(subject, for: request, goesOn: true) { [self] result in
        guard isCurrent(decision) else { return }
        switch result {
        case .failure(let problem): finish(with: problem)
        case .success(let lease):
          service.catchUp(lease, subject, claims, request) { [self] lease in
            // In the meantime another may have been carried out, or the end.
            guard isCurrent(decision) else { return }
            remote.redirect { [self] position in goOn(with: lease, decision, from: position) }
          } orFail: { [self] problem in
            if isCurrent(decision) { finish(with: problem) }
          }
        }
      }
    } catch {
      finish(with: error)
    }
  }

  /// Whether nothing else was decided since.
  private func isCurrent(_ decision: Int) -> Bool {
    state.withLock { $0.decision == decision && !$0.isOver }
  }

  private func goOn(
    with lease: StreamLease, _ decision: Int, from position: Broadcast.Position
  ) -> StreamRemote.Redirection {
    guard let old = state.withLock(\.shown) else { return wait() }
    let before = old.feed.log.state(at: position)
    let seen = before?.snapshots ?? old.feed.present.members.map(\.snapshot)
    let commit = (seen.map(\.commit) + [claims?.head.snapshot.commit ?? 0]).max() ?? 0
    let beginning = lease.feed.beginning(
      from: before, isOwn: lease.feed === old.feed, after: state.withLock(\.hasFailed),
      notBefore: commit)
    // A commit is noted before any feed has it: what was read is of no later one, if none is noted.
    let isCurrent = state.withLock { state in
      guard state.decision == decision, state.isSettled, !state.isOver else {
        return false
      }
      (state.shown, state.arrived, state.hasDeparted) = (lease, decision, false)
      state.hasFailed = false
      return true
    }
    return isCurrent ? .stream(body(beginning, lease)) : wait()
  }

  /// What was decided since is under way, and redirects the stream again.
  private func wait() -> StreamRemote.Redirection {
    remote.hold()
    return .goOn
  }

  /// Tells why, and of which query if not of the whole stream, and ends it after a whole event.
  private func finish(with problem: Problem, of member: RefusedMember? = nil) {
    let subject = state.withLock { state in
      state.decision += 1
      return state.subject
    }
    // One that has not begun is refused instead.
    guard let subject else { return }
    let name = member.map { subject.name(of: $0) } ?? subject.name
    let bytes = ChangeEvents.failure(problem, member: name)
    remote.redirect { _ in .end(bytes) }
  }

  /// Ends the stream in the moment in which the caller is nobody any more, if that is before the next
  /// sweep.
  func endWhenExpired(after now: UnixSeconds) {
    if !gate.isInForce(identity, now: now) { state.withLock { $0.expires = now } }
    guard let expires = state.withLock({ $0.isOver ? nil : $0.expires }), expires < now + 2 else {
      return
    }
    let delay = Duration.seconds(max(0, expires - now)).wholeNanoseconds
    service.refresher.queue.async(after: .nanoseconds(Int(delay))) { [weak self] in
      self?.endIfExpired(at: Gatekeeper.now)
    }
  }

  /// Between two turns of the engine, as whatever else redirects the stream.
  private func endIfExpired(at now: UnixSeconds) {
    let isExpired = state.withLock { state in
      guard let expires = state.expires, expires <= now, !state.isOver, !state.hasExpired else {
        return false
      }
      state.hasExpired = true
      return true
    }
    if isExpired { finish(with: gate.unauthorized("expired", "Your session is over.")) }
  }
}
