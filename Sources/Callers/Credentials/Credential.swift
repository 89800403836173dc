/// What a request has to say who is asking; not yet believed.
package enum Credential: Sendable, Equatable {
  case none
  /// A token in `Authorization`.
  case bearer(String)
  /// A token in the configured cookie, which browsers send by themselves: also for other sites.
  case cookie(String)
  /// A ticket in the URL.
  case ticket(String)
}
