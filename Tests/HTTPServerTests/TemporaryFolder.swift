#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder for the time of a test.
final class TemporaryFolder {
  struct Failure: Error {
    let path: String
    let code: Int32
  }

  let path: String
  /// What was made, folders before what is in them.
  private var entries: [String] = []

  init() throws {
    var template = Array("/tmp/http-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(path: "/tmp", code: errno) }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
  }

  deinit {
    for entry in entries.reversed() { remove(path + "/" + entry) }
    rmdir(path)
  }

  func write(_ name: String, _ text: String) throws { try write(name, bytes: Array(text.utf8)) }

  func write(_ name: String, bytes: [UInt8]) throws {
    try makeFolders(name)
    let descriptor = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { throw Failure(path: name, code: errno) }
    defer { close(descriptor) }
    entries.append(name)
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
      throw Failure(path: name, code: errno)
    }
  }

  func link(_ name: String, to target: String) throws {
    guard symlink(target, path + "/" + name) == 0 else { throw Failure(path: name, code: errno) }
    entries.append(name)
  }

  private func makeFolders(_ name: String) throws {
    var folder = ""
    for segment in name.split(separator: "/").dropLast() {
      folder += "/" + segment
      if mkdir(path + folder, 0o755) == 0 {
        entries.append(folder)
      } else if errno != EEXIST {
        throw Failure(path: folder, code: errno)
      }
    }
  }
}
