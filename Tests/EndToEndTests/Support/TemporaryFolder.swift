import Foundation
import TestSupport

extension TemporaryFolder {
  /// Makes a file, and returns its path.
  func write(_ text: String, to name: String) throws -> String {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    return file(name)
  }
}
