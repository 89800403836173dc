import Foundation

/// A socket of the kind that a service manager makes.
final class ManagerSocket {
  let descriptor: Int32
  /// Where it is, as `NOTIFY_SOCKET` names it.
  let name: String
  let port: Int

  /// One for datagrams: at a path, or in no file system where the name begins with `@`.
  init(notifyingAt name: String) throws {
    self.name = name
    port = 0
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { field in
      field.copyBytes(from: Array(name.utf8))
      if name.hasPrefix("@") { field[0] = 0 }
    }
    let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
    try bind(&address, socklen_t(start + name.utf8.count))
  }

  /// One that listens at a free port.
  init() throws {
    name = ""
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (number, size) = (descriptor, length)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.bind(number, $0, size) == 0 && listen(number, 4096) == 0
          && getsockname(number, $0, &length) == 0
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    guard isBound else { throw TimedOut("a socket to listen on") }
  }

  deinit { close(descriptor) }

  private func bind(_ address: inout sockaddr_un, _ length: socklen_t) throws {
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.bind(descriptor, $0, length) == 0
      }
    }
    guard isBound else { throw TimedOut("a socket \(name)") }
  }

  /// The next datagram.
  func receive() throws -> String {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, Int32(patience * 1000)) == 1 else { throw TimedOut("a notification") }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
  }
}

extension Command {
  /// Runs a program as a service manager does that hands over descriptor 3.
  static let activated = ["sh", "-c", #"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@""#]
}
