/// Lets whoever has it in for one stream, once, for a short time.
///
/// EventSource cannot send headers, and a token in a URL would be in the logs of every proxy for as
/// long as it is good.
package struct Ticket: Sendable, Equatable {
  /// `t1.` and base64url: it may stand in a URL as it is.
  package let text: String
  package let expires: UnixSeconds
}
