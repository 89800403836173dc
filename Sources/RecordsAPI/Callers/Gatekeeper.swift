import Callers
import FetchedRecords
import Foundation
import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Logging
import OrderedResults
import QueryAnalysis

/// Finds out who makes a request, and what they may read: `protocol.md` §6.
final class Gatekeeper: Sendable {
  /// The hidden query that the `claims` statement is; no name of a query can be this.
  static let claimsQuery = "callers: claims"
  private static let everybodySignedIn = QueryAccess()
  /// There are few things to warn of; texts may have a number in them.
  private static let warningsKept = 64

  let settings: CallerSettings
  /// The parameters of the `claims` statement, each a claim of what a caller shows.
  let claimNames: [String]
  /// Of whatever is explored: for operators, and for nobody where none are named.
  private let explored: QueryAccess
  private let reader: CredentialReader
  private let rules: Mutex<Rules>
  private let logger: Logger
  private let refused = Mutex<[String: Int]>([:])
  /// When what was last said.
  private let warned = Mutex<[String: ContinuousClock.Instant]>([:])
  private let streams = Mutex<[ObjectIdentifier: CallerStream]>([:])

  private let isRetired = Atomic(false)

  private var crossOrigin: CrossOrigin? { rules.withLock { $0.crossOrigin } }
  private var keys: WatchedKeys? { rules.withLock { $0.keys } }
  var tickets: Tickets { rules.withLock { $0.tickets } }

  /// - Throws: `KeyProblem` where keys or secrets cannot be read.
  init(
    _ settings: CallerSettings, _ access: [String: QueryAccess], crossOrigin: CrossOrigin?,
    logger: Logger
  ) throws {
    self.settings = settings
    self.logger = logger
    explored = QueryAccess(rule: settings.operators ?? .claims(["": []]))
    claimNames = settings.claims.map { SQLFragment.parameterNames(of: $0) } ?? []
    reader = CredentialReader(cookieName: settings.cookie)
    rules = Mutex(
      try Rules(reading: settings, access, crossOrigin: crossOrigin, after: nil, logger: logger))
    if case .signed(_, let token) = settings.proof, token.audience == nil {
      logger.warning(
        "`callers: jwt` names no audience: tokens that were made for other services are good here")
    }
  }

  func access(of query: String) -> QueryAccess {
    if let access = rules.withLock({ $0.access[query] }) { return access }
    return query.hasPrefix(Explorations.prefix) ? explored : Self.everybodySignedIn
  }

  // MARK: - Other rules

  /// What holds where the same callers may read other queries, with keys and secrets read again.
  ///
  /// - Throws: `KeyProblem` where these cannot be read.
  func rules(_ access: [String: QueryAccess], crossOrigin: CrossOrigin?) throws -> Rules {
    let present = rules.withLock(\.self)
    return try Rules(
      reading: settings, access, crossOrigin: crossOrigin, after: present, logger: logger)
  }

  /// Goes by other rules from now on; streams go on with what their callers may see by them, and end
  /// where that is nothing.
  func use(_ new: Rules) {
    rules.withLock { $0 = new }
    for stream in streams.withLock({ Array($0.values) }) { stream.reconsider() }
  }

  static var now: UnixSeconds { Date().timeIntervalSince1970 }

  /// Lets nobody in any more: another one tells callers from each other.
  func retire() {
    isRetired.store(true, ordering: .relaxed)
    for stream in streams.withLock({ Array($0.values) }) { stream.leave() }
  }

  /// - Throws: 503 where another one tells callers from each other by now.
  func checkIsPresent() throws(Problem) {
    guard isRetired.load(ordering: .relaxed) else { return }
    throw Problem(
      .serviceUnavailable, FetchFailure.replaced.detail, fields: [.retryAfter: "1"])
  }

  // MARK: - Who it is

  /// What a request proves.
  ///
  /// - Throws: 401 where it shows something that is not good, which never is anonymous.
  func identify(_ request: Request) throws(Problem) -> CallerIdentity {
    let tickets = request.query.filter { $0.name == "access_token" }.map { $0.value ?? "" }
    if tickets.isEmpty, case .headers(let headers) = settings.proof {
      return try identify(request, by: headers)
    }
    let credential: Credential
    do {
      credential = try reader.credential(
        authorization: request.fields[values: .authorization],
        cookies: request.fields[values: .cookie], tickets: tickets)
    } catch {
      throw unauthorized("malformed", error.detail, error.explanation)
    }
    switch credential {
    case .none: return .anonymous
    case .bearer(let token): return try identify(token)
    case .cookie(let token):
      try checkOrigin(of: request)
      return try identify(token)
    case .ticket(let text):
      guard Self.isStream(request.encodedPath) else {
        throw unauthorized("ticket", "A ticket is for a stream: show the token itself here.")
      }
      return try identify(ticket: text, isHead: request.isHead)
    }
  }

  /// `/v1/events` and `/v1/queries/{query}/events`.
  private static func isStream(_ path: [String]) -> Bool {
    path == ["v1", "events"]
      || path.count == 4 && path[..<2] == ["v1", "queries"] && path[3] == "events"
  }

  /// A HEAD opens no stream, and uses no ticket up.
  private func identify(ticket text: String, isHead: Bool) throws(Problem) -> CallerIdentity {
    do {
      let identity =
        isHead
        ? try tickets.inspect(text, now: Self.now) : try tickets.redeem(text, now: Self.now)
      if isInForce(identity, now: Self.now) { return identity }
    } catch .crowded {
      throw Problem(
        .serviceUnavailable, TicketError.crowded.detail, fields: [.retryAfter: "5"])
    } catch {
      throw unauthorized("ticket", error.detail, error.explanation)
    }
    throw unauthorized("key", "Your session is over.", "the key that signed for it was taken back")
  }

  /// Whether the key that has signed for somebody is still among those that are trusted.
  func isInForce(_ identity: CallerIdentity, now: UnixSeconds) -> Bool {
    guard let keys, let key = identity.signingKey else { return true }
    return keys.isInForce(key, now: now)
  }

  /// Why somebody who is let in until a moment is nobody any more; nil: that is not so.
  func expiry(of expires: UnixSeconds?) -> Problem? {
    guard let expires, expires <= Self.now else { return nil }
    return unauthorized("expired", "Your session is over.")
  }

  private func identify(_ token: String) throws(Problem) -> CallerIdentity {
    guard let keys else { return .opaque(token: token) }
    do {
      return try keys.verify(token, now: Self.now).identity
    } catch {
      throw unauthorized(error.reason.rawValue, error.detail, error.explanation)
    }
  }

  /// What a proxy has checked; of everybody else these fields mean nothing.
  private func identify(
    _ request: Request, by headers: [HeaderClaim]
  ) throws(Problem) -> CallerIdentity {
    guard request.forwarding != nil else { return .anonymous }
    var members: [(String, ClaimValue)] = []
    for header in headers {
      let values = request.fields[values: header.field]
      guard let text = values.first, !text.isEmpty else { continue }
      guard values.count == 1, !text.utf8.contains(0) else {
        throw unauthorized(
          "malformed", "Who you are is said twice.", "the header \(header.field) is there twice")
      }
      // All bytes that are no UTF-8 are read as this, and so two names as one.
      guard !text.unicodeScalars.contains("\u{FFFD}") else {
        throw unauthorized(
          "malformed", "Who you are is not said in UTF-8.",
          "the header \(header.field) is no UTF-8: have the proxy encode it")
      }
      if let value = header.value(of: text) { members.append((header.claim, value)) }
    }
    return members.isEmpty ? .anonymous : .headers(Claims(members))
  }

  /// A browser sends cookies with what pages of other sites ask for: those that the configuration
  /// does not name get nothing by them.
  private func checkOrigin(of request: Request) throws(Problem) {
    guard ForeignOrigin.isForeign(request) else { return }
    if allowsCredentials(request.fields[.origin]) { return }
    throw refuse(
      .forbidden, "origin",
      "A page of another origin may not ask with your cookie: `cors` in the configuration names "
        + "those that may.")
  }

  /// Whether pages of an origin may ask with cookies: those that are named, and not everybody's.
  private func allowsCredentials(_ origin: String?) -> Bool {
    guard case .origins = crossOrigin else { return false }
    return crossOrigin?.allows(origin) == true
  }

  // MARK: - What they may

  /// - Throws: 401 or 403 where a rule does not let claims in.
  func check(_ rule: AccessRule, _ claims: Claims?, _ what: String) throws(Problem) {
    switch rule.decision(for: claims) {
    case .allowed: return
    case .signInNeeded: throw unauthorized("missing", "Reading \(what) needs a token.")
    case .forbidden: throw refuse(.forbidden, "notAllowed", "You may not read \(what).")
    }
  }

  // MARK: - What is refused

  /// 401; `error="invalid_token"` where there was a token (RFC 6750 §3.1).
  func unauthorized(
    _ reason: String, _ detail: String, _ explanation: String? = nil
  ) -> Problem {
    if let explanation { note(explanation) }
    let challenge = reason == "missing" ? "Bearer" : #"Bearer error="invalid_token""#
    return refuse(.unauthorized, reason, detail, fields: [.wwwAuthenticate: challenge])
  }

  func refuse(
    _ status: HTTPResponse.Status, _ reason: String, _ detail: String, fields: HTTPFields = [:]
  ) -> Problem {
    refused.withLock { $0[reason, default: 0] += 1 }
    return Problem(status, detail, fields: fields)
  }

  /// What helps the operator and is none of the stranger's business.
  func note(_ explanation: String) { logger.debug("refused a caller: \(explanation)") }

  /// What the operator must mend: the same is said once a minute at most, whoever asks meanwhile.
  func warn(_ explanation: String) {
    let isNew = warned.withLock { warned in
      let now = ContinuousClock.now
      if warned[explanation].map({ now - $0 < .seconds(60) }) == true { return false }
      if warned.count >= Self.warningsKept { warned.removeAll() }
      warned[explanation] = now
      return true
    }
    if isNew { logger.warning("\(explanation)") }
  }

  /// Requests and streams that were refused, by the reason.
  var refusals: [String: Int] { refused.withLock { $0 } }

  // MARK: - Streams

  func add(_ stream: CallerStream) {
    streams.withLock { $0[ObjectIdentifier(stream)] = stream }
  }

  func remove(_ stream: CallerStream) {
    streams.withLock { $0[ObjectIdentifier(stream)] = nil }
  }

  /// Ends the streams of those who are nobody any more, since their time is over or their key was
  /// taken back, and has those end in time who will be soon. Called once a second.
  func sweep() {
    let now = Self.now
    for stream in streams.withLock({ Array($0.values) }) { stream.endWhenExpired(after: now) }
  }
}

extension HeaderClaim {
  /// nil: the text says nothing.
  fileprivate func value(of text: String) -> ClaimValue? {
    guard isList else { return .string(text) }
    let items = text.listItems.map { ClaimValue.string(String($0)) }
    return items.isEmpty ? nil : .array(items)
  }
}
