/// Those who share what one client address is granted: an IPv4 address, or a /64 of IPv6.
package struct ClientSite: Sendable, Hashable {
  private let address: IPAddress

  fileprivate init(_ address: IPAddress) { self.address = address.site }
}

extension Request {
  /// The client's site; nil where it is not known: at a Unix-domain socket, and behind a proxy that
  /// does not say whom it asks for.
  package var site: ClientSite? {
    guard let forwarding else { return IPAddress(remoteAddress).map(ClientSite.init) }
    if forwarding.client == remoteAddress.host { return nil }
    return IPAddress(forwarding.client).map(ClientSite.init)
  }
}
