// Beside a module of C's own the compiler finds timeval's members here.
import CoreFoundation
import Foundation

/// What went wrong with a server, in words for the person at the terminal.
struct ClientError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// With the system's words for the last error of this thread.
  static func system(_ what: String) -> ClientError {
    ClientError("\(what): \(String(cString: strerror(errno)))")
  }
}

/// A connection over one blocking socket, for a client that does one thing at a time.
final class StreamSocket {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 65536)

  /// Connects to the first address of a host that answers; fails later after so many seconds of
  /// silence.
  init(host: String, port: Int, silence: Int) throws(ClientError) {
    var hints = addrinfo()
    hints.ai_socktype = Self.streamType
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &list)
    guard status == 0 else {
      throw ClientError("\(host): \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(list) }
    var address = list
    while let info = address?.pointee {
      if let descriptor = Self.connect(to: info, silence: silence) {
        self.descriptor = descriptor
        return
      }
      address = info.ai_next
    }
    throw .system("\(host):\(port)")
  }

  deinit {
    close(descriptor)
  }

  func send(_ bytes: [UInt8]) throws(ClientError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Self.noSignal)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system("sending failed") }
      rest = rest.dropFirst(count)
    }
  }

  /// The bytes that are there, at least one; nil: the other side is done.
  func receive() throws(ClientError) -> [UInt8]? {
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { return Array(buffer.prefix(count)) }
      if count == 0 { return nil }
      if errno == EAGAIN { throw ClientError("the server has gone silent") }
      guard errno == EINTR else { throw .system("the connection broke") }
    }
  }

  /// Leaves `errno` where it returns nil.
  private static func connect(to info: addrinfo, silence: Int) -> Int32? {
    let descriptor = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
    guard descriptor >= 0 else { return nil }
    var limit = timeval(tv_sec: silence, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    // On Linux the limit for sending holds for connecting, too: socket(7).
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    if Foundation.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return descriptor }
    let failure = errno
    close(descriptor)
    errno = failure == EINPROGRESS ? ETIMEDOUT : failure
    return nil
  }

  // Glibc has made enumerations of the constants.
  #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #else
    private static let streamType = SOCK_STREAM
    private static let noSignal: Int32 = 0
  #endif
}
