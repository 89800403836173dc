import Foundation

/// Lines for whoever waits for them: not buffered, as they are by `print`.
///
/// Where nobody reads any more, they are lost.
enum StandardOutput {
  static func write(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }
}

enum StandardError {
  static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
