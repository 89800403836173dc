import Foundation

/// A file with keys or a secret, and what the system says of it.
struct KeyFile {
  /// Bytes; more is refused. A key set of a hundred RSA keys has 50 KiB.
  static let maximumSize = 1024 * 1024

  let bytes: [UInt8]
  let status: FileStatus

  /// Reads a regular file: a pipe would hold the thread that answers requests.
  init(path: String) throws(KeyProblem) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.problem(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.problem(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw KeyProblem("\(path) is not a regular file")
    }
    // The status is from before the bytes: if both change in between, the next look sees it.
    self.status = FileStatus(status)
    bytes = try Self.read(descriptor, path)
  }

  private static func read(_ descriptor: Int32, _ path: String) throws(KeyProblem) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw problem(path) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= maximumSize else {
        throw KeyProblem("\(path) has more than \(maximumSize) bytes")
      }
    }
  }

  private static func problem(_ path: String) -> KeyProblem {
    KeyProblem("\(path) cannot be read: \(String(cString: strerror(errno)))")
  }
}

/// By what a file is known to be another one, or written again.
struct FileStatus: Equatable {
  private let numbers: [Int64]
  private let modified: Int64

  init(_ status: stat) {
    #if os(Linux)
      let (modified, changed) = (status.st_mtim, status.st_ctim)
    #else
      let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
    #endif
    self.modified = Int64(modified.tv_sec)
    numbers = [
      Int64(modified.tv_sec), Int64(modified.tv_nsec), Int64(changed.tv_sec),
      Int64(changed.tv_nsec), Int64(status.st_size), Int64(bitPattern: UInt64(status.st_ino)),
    ]
  }

  /// Of the file at a path; nil where there is none. One system call.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Whether the file was written so long before that time that another write has another time.
  ///
  /// A file system's clock goes in steps of up to two seconds, and in the same step the same number
  /// of bytes can be written again without a trace.
  func isSettled(at now: UnixSeconds) -> Bool { Double(modified) + 3 < now }
}
