/// Why there is no ticket, or why one is not good.
package enum TicketError: Error, Sendable, CaseIterable {
  /// It is not one of this server's: 401.
  case notGood
  /// 401.
  case expired
  /// It was good once, and let somebody in: 401.
  case used
  /// More tickets are in use than are remembered: 503.
  case crowded
  /// The caller's claims do not fit into a URL: 400.
  case tooLarge
  /// Nobody has signed in: 401.
  case anonymous
}

extension TicketError {
  /// For the client.
  package var detail: String {
    switch self {
    case .notGood: "The ticket is not good."
    case .expired: "The ticket has expired."
    case .used: "The ticket was used already."
    case .crowded: "There are too many tickets at this moment."
    case .tooLarge: "What is known of the caller is too much for a ticket."
    case .anonymous: "A ticket needs a token."
    }
  }

  /// For the log; nothing of the ticket is in it.
  package var explanation: String {
    switch self {
    case .notGood: "the ticket is not of this server, or of one with the same ticketKey"
    case .expired: "the ticket has expired"
    case .used: "the ticket was used already"
    case .crowded: "so many tickets were used within their time that no more are remembered"
    case .tooLarge: "the ticket would have more than \(Tickets.maximumSize) bytes"
    case .anonymous: "a ticket was asked for without a token"
    }
  }
}
