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
