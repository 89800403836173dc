import Foundation

/// A folder that goes away with its test.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    // Short: the path of a Unix-domain socket in it has to fit into some 100 bytes.
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("didchange-" + UUID().uuidString.prefix(8)).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func file(_ name: String = "music.db") -> String { path + "/" + name }

  /// Makes a file, and the folders that it is in, and returns its path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try write(Array(text.utf8), to: name)
  }

  @discardableResult
  package func write(_ bytes: [UInt8], to name: String) throws -> String {
    let url = URL(fileURLWithPath: file(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return file(name)
  }

  /// Sets when a file was last modified, in seconds since 1970.
  package func setModified(_ name: String, to seconds: Int) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: TimeInterval(seconds))],
      ofItemAtPath: file(name))
  }

  /// Makes a folder, and returns its path.
  @discardableResult
  package func makeFolder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(
      atPath: file(name), withIntermediateDirectories: true)
    return file(name)
  }

  /// Makes a symbolic link.
  package func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: file(name), withDestinationPath: target)
  }
}
