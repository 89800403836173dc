#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A socket that sends and receives what a test says, with a limit on how long it waits.
final class RawClient {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: Int32
  /// What came and was not taken yet.
  private(set) var received: [UInt8] = []
  private(set) var isAtEnd = false
  private var isOpen = true

  /// Connects.
  ///
  /// A small receive buffer makes a slow reader of whoever does not read.
  init(port: Int, isIPv6: Bool = false, receiveBuffer: Int32? = nil) throws {
    #if os(Linux)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard descriptor >= 0 else { throw Failure(description: "socket: \(errno)") }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
    }
    let result = isIPv6 ? connectIPv6(port) : connectIPv4(port)
    guard result == 0 else { throw Failure(description: "connect: \(errno)") }
  }

  deinit { close() }

  private func connectIPv4(_ port: Int) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    return connectSocket(to: address)
  }

  private func connectIPv6(_ port: Int) -> Int32 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = UInt16(port).bigEndian
    inet_pton(AF_INET6, "::1", &address.sin6_addr)
    return connectSocket(to: address)
  }

  /// `Address` is the `sockaddr` of a family.
  private func connectSocket<Address>(to address: Address) -> Int32 {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, UInt32(MemoryLayout<Address>.size))
      }
    }
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    closeDescriptor(descriptor)
  }

  func shutdownWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { sendBytes(descriptor, $0) }
      guard count > 0 else { throw Failure(description: "send: \(errno)") }
      sent += count
    }
  }

  /// Reads once.
  ///
  /// Returns whether anything came within the time.
  @discardableResult
  func readMore(milliseconds: Int32 = 10_000) throws -> Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, milliseconds) > 0 else { return false }
    let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { received += buffer[..<count] }
      return count
    }
    if count == 0 { isAtEnd = true }
    if count < 0 { throw Failure(description: "receive: \(errno)") }
    return true
  }

  /// Reads until a text has come, and takes everything up to its end.
  func read(through text: String) throws -> String {
    let wanted = Array(text.utf8)
    while true {
      if let end = received.firstRange(of: wanted)?.upperBound {
        let taken = String(decoding: received[..<end], as: UTF8.self)
        received.removeFirst(end)
        return taken
      }
      if isAtEnd { throw Failure(description: "the end came, after \(all)") }
      guard try readMore() else { throw Failure(description: "no \(text), but \(all)") }
    }
  }

  func read(count: Int) throws -> [UInt8] {
    while received.count < count {
      if isAtEnd { throw Failure(description: "the end came, after \(all)") }
      guard try readMore() else { throw Failure(description: "nothing came after \(all)") }
    }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  /// Reads until the peer closes, and takes everything.
  func readToEnd() throws -> String {
    while !isAtEnd {
      guard try readMore() else { throw Failure(description: "no end after \(all)") }
    }
    defer { received = [] }
    return all
  }

  private var all: String { String(decoding: received, as: UTF8.self) }
}

/// Lets another thread run for a moment.
func pause() { usleep(1000) }

private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  #if os(Linux)
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
  #else
    send(descriptor, bytes.baseAddress, bytes.count, 0)
  #endif
}
