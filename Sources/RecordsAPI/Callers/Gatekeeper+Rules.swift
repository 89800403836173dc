import Callers
import Logging

extension Gatekeeper {
  /// What may change while callers are known in the same way: who may read what, and the keys.
  struct Rules: Sendable {
    let access: [String: QueryAccess]
    let crossOrigin: CrossOrigin?
    /// nil: nothing that callers show is signed.
    let keys: WatchedKeys?
    let tickets: Tickets
    private let ticketKey: TicketKey?

    /// Reads the keys and secrets.
    ///
    /// - Parameters:
    ///   - settings: where they are.
    ///   - access: who may read what.
    ///   - crossOrigin: which pages may ask with a cookie.
    ///   - old: what held until now; a ticket is good once, whatever was read again since.
    ///   - logger: is told when a file of keys changes.
    /// - Throws: `KeyProblem` where they cannot be read.
    init(
      reading settings: CallerSettings, _ access: [String: QueryAccess], crossOrigin: CrossOrigin?,
      after old: Rules?, logger: Logger
    ) throws {
      self.access = access
      self.crossOrigin = crossOrigin
      ticketKey = try settings.ticketKey.map { try TicketKey(path: $0) }
      if let old, old.ticketKey == ticketKey {
        tickets = old.tickets
      } else {
        tickets = Tickets(key: ticketKey ?? .random())
      }
      guard case .signed(let source, let token) = settings.proof else {
        keys = nil
        return
      }
      keys = try WatchedKeys(source: source, settings: token) { event in
        switch event {
        case .reloaded(let keys, let unused):
          let rest = unused.map { "; \($0)" }.joined()
          if keys == 0 {
            logger.warning("there are no keys of tokens any more, and no token is good\(rest)")
          } else {
            logger.notice("read \(keys) keys of tokens anew\(rest)")
          }
        case .failed(let why): logger.error("the keys of tokens stay as they were: \(why)")
        }
      }
    }
  }
}
