import Foundation

/// A socket on which whoever started the process listens already.
package struct InheritedSocket: Sendable, Equatable {
  /// Where it listens.
  package enum Place: Sendable, Equatable {
    case host(String, port: Int)
    /// A Unix-domain socket; an abstract one begins with `@`.
    case path(String)
  }

  package let descriptor: Int32
  package let place: Place

  /// What a service manager hands over begins here, whatever else the process has open.
  private static let first: Int32 = 3

  /// The sockets that a service manager has handed over to this process, if it has: sd_listen_fds(3).
  ///
  /// - Throws: ``NotListening`` where one is no socket that listens for connections.
  package static func all(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(NotListening) -> [InheritedSocket] {
    guard environment["LISTEN_PID"].flatMap(pid_t.init) == getpid(),
      let count = environment["LISTEN_FDS"].flatMap(Int32.init), (1...1024).contains(count)
    else { return [] }
    var sockets: [InheritedSocket] = []
    for descriptor in first..<first + count {
      guard let place = place(of: descriptor) else { throw NotListening(descriptor: descriptor) }
      SystemCalls.setNonBlocking(descriptor)
      sockets.append(InheritedSocket(descriptor: descriptor, place: place))
    }
    return sockets
  }

  private static func place(of descriptor: Int32) -> Place? {
    var isListening: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
      isListening != 0
    else { return nil }
    var storage = sockaddr_storage()
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let size = length
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &length) == 0, length <= size else { return nil }
        return place(of: address, length)
      }
    }
  }

  private static func place(of address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Place? {
    switch Int32(address.pointee.sa_family) {
    case AF_INET, AF_INET6:
      let address = SocketAddress(copying: address, length)
      return .host(address.host, port: address.port)
    case AF_UNIX:
      let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
      let bytes = UnsafeRawBufferPointer(start: address, count: Int(length)).dropFirst(start)
      let isAbstract = bytes.first == 0
      let name = isAbstract ? bytes.dropFirst()[...] : bytes.prefix { $0 != 0 }
      return .path((isAbstract ? "@" : "") + String(decoding: name, as: UTF8.self))
    default: return nil
    }
  }

  /// What was handed over is not what a server can accept connections from.
  package struct NotListening: Error, CustomStringConvertible {
    let descriptor: Int32

    package var description: String {
      """
      LISTEN_FDS names descriptor \(descriptor), which is no socket that listens for connections: \
      the service manager's socket unit needs ListenStream=, and Accept=no
      """
    }
  }
}
