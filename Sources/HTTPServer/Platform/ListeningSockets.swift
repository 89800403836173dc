import Foundation
import Logging

struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// 0 where there is none.
  var port = 0
  /// Where a Unix-domain socket stands, so that it can be taken away at the end.
  var path: String?
}

/// Opening sockets to listen on.
enum ListeningSockets {
  /// As many as the system allows (Linux cuts it to net.core.somaxconn): a burst of clients that
  /// come back after a restart must not be turned away.
  static let backlog: Int32 = 4096

  /// Listens on every address that a name stands for, so that `localhost` is IPv4 and IPv6.
  ///
  /// All have the port of the first, also where that is 0 and the system chooses.
  ///
  /// - Throws: When none can be listened on.
  static func open(
    host: String, port: Int, logger: Logger
  ) throws(ServerError) -> [ListeningSocket] {
    var sockets: [ListeningSocket] = []
    var port = port
    var failure = "no address"
    for address in try addresses(host: host, port: port) {
      var address = address
      if !sockets.isEmpty { address.setPort(port) }
      switch listen(on: address) {
      case .success(let descriptor):
        port = boundPort(descriptor)
        sockets.append(ListeningSocket(descriptor: descriptor, port: port))
      case .failure(let error):
        failure = error.description
        logger.warning("cannot listen on \(address): \(error)")
      }
    }
    guard !sockets.isEmpty else {
      throw ServerError.cannotListen(host: host, port: port, reason: failure)
    }
    return sockets
  }

  private static func addresses(
    host: String, port: Int
  ) throws(ServerError) -> [SocketAddress] {
    var hints = addrinfo()
    #if os(Linux)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
      throw .cannotListen(host: host, port: port, reason: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(list) }
    var result: [SocketAddress] = []
    // The list and what it points to live until freeaddrinfo.
    var next = list
    while let info = next {
      result.append(SocketAddress(copying: info.pointee))
      next = info.pointee.ai_next
    }
    return result
  }

  private static func listen(on address: SocketAddress) -> Result<Int32, SystemError> {
    let family = Int32(address.storage.sin6_family)
    let descriptor = streamSocket(family)
    guard descriptor >= 0 else { return .failure(SystemError(errno)) }
    // A server that is started again gets its port although old connections are in TIME_WAIT.
    SystemCalls.setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if family == AF_INET6 {
      // "::" means everybody, as people expect who write it; other addresses mean themselves.
      SystemCalls.setOption(
        descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, address.host == "::" ? 0 : 1)
    }
    let bound = address.withPointer { bind(descriptor, $0, $1) }
    guard bound == 0, Foundation.listen(descriptor, backlog) == 0 else {
      let error = SystemError(errno)
      SystemCalls.close(descriptor)
      return .failure(error)
    }
    return .success(descriptor)
  }

  /// A socket that neither waits nor is handed on to other programs; negative: there is none.
  static func streamSocket(_ family: Int32) -> Int32 {
    #if os(Linux)
      socket(
        family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    #else
      let descriptor = socket(family, SOCK_STREAM, 0)
      if descriptor >= 0 { SystemCalls.setNonBlocking(descriptor) }
      return descriptor
    #endif
  }

  private static func boundPort(_ descriptor: Int32) -> Int {
    var address = SocketAddress()
    address.length = UInt32(MemoryLayout<sockaddr_in6>.size)
    withUnsafeMutablePointer(to: &address.storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = getsockname(descriptor, $0, &address.length)
      }
    }
    return address.port
  }
}

extension SocketAddress {
  init(copying info: addrinfo) { self.init(copying: info.ai_addr, info.ai_addrlen) }

  init(copying address: UnsafePointer<sockaddr>, _ length: socklen_t) {
    self.init()
    self.length = min(UInt32(length), UInt32(MemoryLayout<sockaddr_in6>.size))
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(self.length)))
    }
  }

  fileprivate mutating func setPort(_ port: Int) {
    // sockaddr_in and sockaddr_in6 both have the port, in network order, after the family.
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.storeBytes(of: UInt16(port).bigEndian, toByteOffset: 2, as: UInt16.self)
    }
  }

  func withPointer<Result>(
    _ body: (UnsafePointer<sockaddr>, UInt32) -> Result
  ) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}
