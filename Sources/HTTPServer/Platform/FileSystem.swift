import Foundation

/// The system calls on files, each in the form in which the server needs it.
enum FileSystem {
  /// An open regular file.
  struct File {
    let descriptor: Int32
    let size: Int
    /// Seconds since 1970.
    let modified: Int
    let modifiedNanoseconds: Int
    let inode: UInt64
  }

  enum Kind { case file(File), folder, none }

  /// A path without symbolic links, dots and doubled slashes, or nil where there is nothing.
  static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    // realpath's own memory, ended by NUL.
    return String(cString: resolved)
  }

  /// Opens what is at a path, which is free of symbolic links.
  static func open(_ path: String) -> Kind {
    // O_NONBLOCK: a FIFO without a writer would hold the loop. O_NOFOLLOW: the last segment has
    // become a link since it was resolved.
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return .none }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return closing(descriptor, .none) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return closing(descriptor, .folder)
    case S_IFREG: break
    default: return closing(descriptor, .none)
    }
    #if os(Linux)
      let modified = status.st_mtim
    #else
      let modified = status.st_mtimespec
    #endif
    return .file(
      File(
        descriptor: descriptor, size: Int(status.st_size), modified: modified.tv_sec,
        modifiedNanoseconds: modified.tv_nsec, inode: UInt64(status.st_ino)))
  }

  /// Takes a name away; what has it open keeps it.
  static func remove(_ path: String) { _ = unlink(path) }

  private static func closing(_ descriptor: Int32, _ kind: Kind) -> Kind {
    SystemCalls.close(descriptor)
    return kind
  }
}
