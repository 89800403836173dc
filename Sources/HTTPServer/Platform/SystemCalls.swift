import Foundation

#if os(Linux)
  import CLinux
#endif

/// What a read or a write that does not wait came to.
enum Transfer: Equatable {
  /// That many bytes; 0 from a read is the end.
  case bytes(Int)
  case wouldBlock
  /// The connection is gone. The number is `errno`.
  case failed(Int32)
}

/// The system calls on sockets, each in the form in which the server needs it.
///
/// Pointers live as long as the call.
enum SystemCalls {
  private static func result(_ count: Int) -> Transfer {
    if count >= 0 { return .bytes(count) }
    let error = errno
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR ? .wouldBlock : .failed(error)
  }

  static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    result(recv(descriptor, buffer.baseAddress, buffer.count, 0))
  }

  // MSG_NOSIGNAL: a peer that is gone is an answer to us, not a signal to the process. On Darwin
  // the socket option SO_NOSIGPIPE says it.
  #if os(Linux)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #else
    private static let sendFlags: Int32 = 0
  #endif

  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    result(Foundation.send(descriptor, bytes.baseAddress, bytes.count, sendFlags))
  }

  /// One write of several pieces of memory, which the caller holds.
  ///
  /// - Parameters:
  ///   - descriptor: The socket.
  ///   - count: How many; at most 1024, the least IOV_MAX of our systems.
  ///   - piece: Gives each in order.
  /// - Returns: How many bytes of all of them went.
  static func send(
    _ descriptor: Int32, pieces count: Int, piece: (Int) -> UnsafeMutableRawBufferPointer
  ) -> Transfer {
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: count) { pieces in
      for index in 0..<count {
        let bytes = piece(index)
        pieces[index] = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
      }
      var message = msghdr()
      message.msg_iov = pieces.baseAddress
      message.msg_iovlen = .init(count)
      return result(sendmsg(descriptor, &message, sendFlags))
    }
  }

  /// Reads from a file at an offset.
  ///
  /// 0 at the end, or when it cannot be read.
  static func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int {
    max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
  }

  /// Whether the peer has sent something, or has gone, without taking it.
  static func hasNews(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    return result(recv(descriptor, &byte, 1, Int32(MSG_PEEK))) != .wouldBlock
  }

  /// How many descriptors the process may have: `ulimit -n`.
  static var descriptorLimit: Int32 {
    #if canImport(Glibc)
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let files = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0 else { return .max }
    return Int32(clamping: limit.rlim_cur)
  }

  /// The lowest descriptor that is free; nil where there is none (`man 3 dup`).
  static func lowestFree(copying descriptor: Int32) -> Int32? {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return nil }
    close(copy)
    return copy
  }

  static func close(_ descriptor: Int32) { _ = Foundation.close(descriptor) }

  static func shutdownWrite(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next connection of a listening socket, not blocking, or nil and `errno`.
  static func accept(_ listener: Int32, _ address: inout SocketAddress) -> Result<
    Int32, SystemError
  > {
    address.length = UInt32(MemoryLayout<sockaddr_in6>.size)
    let descriptor = withUnsafeMutablePointer(to: &address.storage) { storage in
      #if os(Linux)
        accept4(
          listener, storage, &address.length,
          Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
      #else
        storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Foundation.accept(listener, $0, &address.length)
        }
      #endif
    }
    guard descriptor >= 0 else { return .failure(SystemError(errno)) }
    #if !os(Linux)
      setNonBlocking(descriptor)
      setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
    #endif
    if address.isInternet { setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) }
    return .success(descriptor)
  }

  static func setOption(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32 = 1) {
    var value = value
    _ = setsockopt(descriptor, level, option, &value, UInt32(MemoryLayout<Int32>.size))
  }

  /// Bounds what the system takes in beyond what is on its way to the peer.
  ///
  /// Without it the system holds up to `tcp_wmem` for a peer that does not read, mostly 4 MiB: four
  /// gigabytes for a thousand streams. What is on its way is bounded by the peer's window, so that a
  /// fast reader is none the slower.
  static func limitUnsent(_ descriptor: Int32, to bytes: Int32) {
    #if os(Linux)
      // TCP_NOTSENT_LOWAT of linux/tcp.h, https://lwn.net/Articles/560082/
      setOption(descriptor, Int32(IPPROTO_TCP), 25, bytes)
    #else
      setOption(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, bytes)
    #endif
  }

  static func setNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Time that only goes forward.
  static func now() -> Moment {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Seconds since 1970.
  static func wallClock() -> Int { time(nil) }

  /// The running thread; never 0.
  static var thread: UInt {
    // A number or a pointer, as the system likes.
    withUnsafeBytes(of: pthread_self()) { $0.loadUnaligned(as: UInt.self) }
  }

  static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

/// An `errno`.
struct SystemError: Error, Equatable, CustomStringConvertible {
  let code: Int32

  init(_ code: Int32) { self.code = code }

  var description: String { String(cString: strerror(code)) }

  /// Neither this process nor the system has a descriptor or the memory for another socket.
  var isOutOfDescriptors: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) }

  /// There is no connection to accept now.
  var isWouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }
}
