import Foundation

extension ListeningSockets {
  /// Listens on a Unix-domain socket.
  ///
  /// A socket that a server left behind which did not come to its end is replaced; one on which
  /// somebody listens is not, and neither is any other file.
  static func open(path: String) throws(ServerError) -> ListeningSocket {
    guard var address = sockaddr_un(path: path) else {
      let most = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
      throw .cannotListenAt(path: path, reason: "the path has more than \(most) bytes")
    }
    let descriptor = streamSocket(AF_UNIX)
    guard descriptor >= 0 else { throw .outOfDescriptors }
    if address.withPointer({ bind(descriptor, $0, $1) }) != 0 {
      let error = SystemError(errno)
      let mayReplace = error.code == EADDRINUSE && isAbandoned(&address)
      if mayReplace { FileSystem.remove(path) }
      guard mayReplace, address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
        SystemCalls.close(descriptor)
        throw .cannotListenAt(path: path, reason: error.description)
      }
    }
    guard Foundation.listen(descriptor, backlog) == 0 else {
      let error = SystemError(errno)
      SystemCalls.close(descriptor)
      throw .cannotListenAt(path: path, reason: error.description)
    }
    return ListeningSocket(descriptor: descriptor, path: path)
  }

  /// Whether there is a socket on which nobody listens.
  private static func isAbandoned(_ address: inout sockaddr_un) -> Bool {
    let descriptor = streamSocket(AF_UNIX)
    guard descriptor >= 0 else { return false }
    defer { SystemCalls.close(descriptor) }
    // A file that is no socket refuses too (unix(7)), and may be somebody's.
    guard address.isSocket else { return false }
    return address.withPointer({ connect(descriptor, $0, $1) }) != 0 && errno == ECONNREFUSED
  }
}

extension sockaddr_un {
  /// Nil where the path is too long.
  fileprivate init?(path: String) {
    self.init()
    sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &sun_path) { field in
      guard bytes.count < field.count else { return false }
      field.copyBytes(from: bytes)
      return true
    }
    guard fits else { return nil }
  }

  fileprivate mutating func withPointer<Result>(
    _ body: (UnsafePointer<sockaddr>, UInt32) -> Result
  ) -> Result {
    withUnsafePointer(to: &self) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, UInt32(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  fileprivate var isSocket: Bool {
    var status = stat()
    // The field was zero before the path was copied into it, and is longer.
    let result = withUnsafeBytes(of: sun_path) { path in
      path.withMemoryRebound(to: CChar.self) { lstat($0.baseAddress!, &status) }
    }
    return result == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }
}
