import Foundation

/// The address of one end of a connection.
package struct SocketAddress: Sendable, CustomStringConvertible {
  /// Large enough for an IPv4 address too, and a hundred bytes smaller than `sockaddr_storage`.
  var storage = sockaddr_in6()
  var length: UInt32 = 0

  init() {}

  var isInternet: Bool { [AF_INET, AF_INET6].contains(Int32(storage.sin6_family)) }

  /// The address without the port, as in a log.
  ///
  /// An IPv4 client of a dual-stack socket is shown as IPv4, so that it has one name.
  ///
  /// Whoever comes by a Unix-domain socket is `unix`.
  package var host: String {
    guard isInternet else { return "unix" }
    return numeric(wantsHost: true)
      .replacing(prefix: "::ffff:", with: "")
  }

  /// The port, 0 where there is none.
  package var port: Int { Int(numeric(wantsHost: false)) ?? 0 }

  /// `127.0.0.1:8080` or `[::1]:8080`.
  package var description: String {
    let host = host
    guard isInternet else { return host }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// O(1), one library call; kept out of the way of requests, which carry the address itself.
  private func numeric(wantsHost: Bool) -> String {
    guard isInternet else { return "" }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1025) { text in
      text[0] = 0
      _ = withPointer { address, length in
        getnameinfo(
          address, length, wantsHost ? text.baseAddress : nil, wantsHost ? 1025 : 0,
          wantsHost ? nil : text.baseAddress, wantsHost ? 0 : 1025,
          NI_NUMERICHOST | NI_NUMERICSERV)
      }
      // A buffer that getnameinfo ended with NUL, or whose first byte is one.
      return text.baseAddress.map { String(cString: $0) } ?? ""
    }
  }
}

extension String {
  fileprivate func replacing(prefix: String, with replacement: String) -> String {
    hasPrefix(prefix) && contains(".") ? replacement + dropFirst(prefix.count) : self
  }
}
