import Foundation
import RecordsAPI

/// Lines for whoever waits for them: not buffered, as they are by `print`.
///
/// What a terminal would obey is shown instead, wherever it came from. Where nobody reads any more,
/// the lines are lost.
enum StandardOutput {
  static func write(_ text: String) {
    try? writePainted(text.showingControls(except: lineControls))
  }

  /// Writes what has colours, and nothing else that a terminal obeys: see ``Terminal``.
  ///
  /// - Throws: where it cannot be written: a full disk.
  static func writePainted(_ text: String) throws(ClientError) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      throw .system("standard output cannot be written")
    }
  }

  /// - Throws: where it was closed before the program began.
  static func checkIsOpen() throws(ClientError) {
    if fcntl(STDOUT_FILENO, F_GETFL) < 0 { throw .system("standard output cannot be written") }
  }
}

enum StandardError {
  static func write(_ text: String) {
    let safe = text.showingControls(except: lineControls)
    try? FileHandle.standardError.write(contentsOf: Data(safe.utf8))
  }
}

private let lineControls: Set<Unicode.Scalar> = ["\n", "\t"]
