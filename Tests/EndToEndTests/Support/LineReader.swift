import Foundation
import TestSupport

/// Lines of another process, each waited for until a deadline.
final class LineReader {
  private let descriptor: FileDescriptor
  private var received: [UInt8] = []

  init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// The next line without its end; nil at the end of the file.
  func next(within timeout: TimeInterval = patience) throws -> String? {
    let deadline = Date(timeIntervalSinceNow: timeout)
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard try receive(until: deadline) else {
        defer { received = [] }
        return received.isEmpty ? nil : String(decoding: received, as: UTF8.self)
      }
    }
  }

  /// All lines up to the end of the file.
  func rest() throws -> [String] {
    var lines: [String] = []
    while let line = try next() { lines.append(line) }
    return lines
  }

  private func receive(until deadline: Date) throws -> Bool {
    guard let bytes = descriptor.read(until: deadline) else {
      throw TimedOut("a line of a process; so far " + String(decoding: received, as: UTF8.self))
    }
    received += bytes
    return !bytes.isEmpty
  }
}
