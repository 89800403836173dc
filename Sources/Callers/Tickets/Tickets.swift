import Locks

/// Gives out tickets and takes them back, each once.
///
/// A ticket is all there is of it: servers share a key and nothing else. That one is used once is
/// therefore known to one server; within its 30 seconds it could be used at another one, too.
package final class Tickets: Sendable {
  /// Seconds for which a ticket is good: as long as a page may take from asking to connecting.
  static let lifetime: UnixSeconds = 30

  /// How far the clocks of servers with one key may be apart. A ticket from later than that is not
  /// taken, so that what was used need not be remembered for longer.
  static let leeway: UnixSeconds = 30

  /// Bytes of a ticket; there are none above.
  ///
  /// 6 kB of the 8 kB that a request target may have.
  static let maximumSize = 6000

  private let key: TicketKey
  private let used: Mutex<UsedTickets>

  /// Makes the tickets of a server.
  ///
  /// - Parameters:
  ///   - key: What they are sealed with.
  ///   - capacity: Used tickets that are remembered until they expire; more are refused with
  ///     `crowded`. 100 000 are 3300 streams a second for 30 seconds, of 16 bytes each.
  ///   - share: How many of these one caller may have: 3000 are 100 streams a second.
  package init(key: TicketKey = .random(), capacity: Int = 100_000, share: Int = 3000) {
    self.key = key
    used = Mutex(UsedTickets(capacity: capacity, share: share))
  }

  /// A ticket for a caller, which is not good for longer than what proves the caller. O(n) in the
  /// size of the claims.
  ///
  /// - Throws: `anonymous`, or `tooLarge`.
  package func issue(
    for identity: CallerIdentity, now: UnixSeconds
  ) throws(TicketError) -> Ticket {
    let expires = min(now + Self.lifetime, identity.expires ?? .infinity)
    guard let bytes = TicketContent(identity: identity, expires: expires).bytes else {
      throw .anonymous
    }
    guard let text = key.seal(bytes), text.utf8.count <= Self.maximumSize else { throw .tooLarge }
    return Ticket(text: text, expires: expires)
  }

  /// The caller of a ticket, which is used with this. O(n) in its bytes.
  ///
  /// - Throws: Why it is not good.
  package func redeem(_ text: String, now: UnixSeconds) throws(TicketError) -> CallerIdentity {
    let (salt, content) = try open(text, now: now)
    try markUsed(salt, content, now: now)
    return content.identity
  }

  /// The caller of a ticket that is still good, and stays so. O(n) in its bytes.
  ///
  /// - Throws: Why it is not good.
  package func inspect(_ text: String, now: UnixSeconds) throws(TicketError) -> CallerIdentity {
    let (salt, content) = try open(text, now: now)
    let isUsed = used.withLock { $0.contains(salt, expiringIn: Int(content.expires)) }
    if isUsed { throw .used }
    return content.identity
  }

  /// What is in a ticket of the present, used or not.
  private func open(
    _ text: String, now: UnixSeconds
  ) throws(TicketError) -> (salt: UsedTickets.Salt, content: TicketContent) {
    guard text.utf8.count <= Self.maximumSize, let (salt, bytes) = key.open(text),
      let content = TicketContent(bytes)
    else { throw .notGood }
    guard now < content.expires else { throw .expired }
    guard content.expires <= now + Self.lifetime + Self.leeway else { throw .notGood }
    return (UsedTickets.Salt(salt), content)
  }

  /// Remembers a ticket until it has expired.
  private func markUsed(
    _ salt: UsedTickets.Salt, _ content: TicketContent, now: UnixSeconds
  ) throws(TicketError) {
    let result: Result<Void, TicketError> = used.withLock { used in
      do throws(TicketError) {
        try used.use(salt, of: content.identity.name, expiringIn: Int(content.expires)) {
          UnixSeconds($0 + 1) > now
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
