import Foundation

/// A file that says which process serves.
///
/// The server holds a lock on it, which ends with the process however that ends: what counts is who
/// holds the lock, and not the number in the file, which may be of a process of long ago.
final class PIDFile {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let path: String
  private let descriptor: Int32

  /// Makes the file, or takes over one that was left behind.
  ///
  /// - Throws: ``Failure`` where another server has it, or it cannot be written.
  init(path: String) throws(Failure) {
    self.path = path
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(path) }
    var lock = Self.wholeFile
    guard fcntl(descriptor, F_SETLK, &lock) == 0 else {
      let holder = Self.holder(descriptor).map { ", process \($0)," } ?? ""
      close(descriptor)
      throw Failure(description: "\(path): another server\(holder) has this file")
    }
    let text = Array("\(getpid())\n".utf8)
    guard ftruncate(descriptor, 0) == 0, write(descriptor, text, text.count) == text.count else {
      defer { close(descriptor) }
      throw .system(path)
    }
    self.descriptor = descriptor
  }

  /// Takes the file away.
  func remove() {
    unlink(path)
    close(descriptor)
  }

  /// The server that has a file.
  ///
  /// - Throws: ``Failure`` where there is none.
  static func server(of path: String) throws(Failure) -> pid_t {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path) }
    defer { close(descriptor) }
    guard let holder = holder(descriptor) else {
      throw Failure(description: "\(path): no server has this file, which one left behind")
    }
    return holder
  }

  private static var wholeFile: flock {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return lock
  }

  private static func holder(_ descriptor: Int32) -> pid_t? {
    var lock = wholeFile
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK), lock.l_pid > 0
    else { return nil }
    return lock.l_pid
  }
}

extension PIDFile.Failure {
  /// With the system's words for the last error of this thread.
  fileprivate static func system(_ path: String) -> Self {
    Self(description: "\(path): \(String(cString: strerror(errno)))")
  }
}
