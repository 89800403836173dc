import CCurl
import Foundation
import ServerSentEvents

/// What has arrived of a stream: the loop's thread puts it in, a test waits for it.
///
/// Bytes become events only when they are asked for: the one loop of all streams must not be held
/// up by what a test does with one of them.
// Safe to share: every field is touched with `condition` locked only.
final class Inbox: @unchecked Sendable {
  struct Content {
    var head = ResponseHead()
    var bytes: [UInt8] = []
    var events: [ReceivedEvent] = []
    var comments: [String] = []
    var parser = EventParser()
    var isPaused = false
    /// nil: the stream goes on.
    var ending: CURLcode?
    /// Where in `bytes` the block begins that is not complete yet.
    var start = 0
    /// Up to where no end of it was found.
    var searched = 0
  }

  private let condition = NSCondition()
  private var content = Content()

  func read<T>(_ body: (Content) -> T) -> T {
    condition.lock()
    defer { condition.unlock() }
    content.takeBlocks()
    return body(content)
  }

  /// Waits until `body` finds what it looks for; nil where it does not in time.
  func wait<T>(until deadline: Date, _ body: (inout Content) -> T?) -> T? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      content.takeBlocks()
      if let found = body(&content) { return found }
      guard condition.wait(until: deadline) else { return nil }
    }
  }

  func receive(headLine: UnsafeRawBufferPointer) { change { $0.head.append(line: headLine) } }

  /// Returns whether the bytes were taken; else they come again later.
  @discardableResult
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if content.isPaused { return false }
    content.bytes += bytes
    condition.broadcast()
    return true
  }

  func setPaused(_ isPaused: Bool) { change { $0.isPaused = isPaused } }

  func end(_ code: CURLcode) { change { $0.ending = code } }

  private func change(_ body: (inout Content) -> Void) {
    condition.lock()
    body(&content)
    condition.broadcast()
    condition.unlock()
  }

  /// Whether a handle is the one whose bytes come here.
  func isFed(by handle: CurlHandle) -> Bool { handle.inbox === self }
}

extension Inbox.Content {
  /// An event ends with an empty line; what stands before it is handed to the parser whole, so that
  /// an event is known together with its own bytes.
  fileprivate mutating func takeBlocks() {
    while let end = endOfBlock() {
      take(Array(bytes[start..<end]))
      start = end
      searched = end
    }
  }

  private mutating func endOfBlock() -> Int? {
    bytes.withUnsafeBytes { bytes in
      while searched < bytes.count, let place = bytes.baseAddress?.advanced(by: searched),
        let found = memchr(place, 0x0A, bytes.count - searched)
      {
        let lineFeed = searched + (UnsafeRawPointer(found) - place)
        guard lineFeed + 1 < bytes.count else {
          searched = lineFeed
          return nil
        }
        searched = lineFeed + 1
        if bytes[lineFeed + 1] == 0x0A { return lineFeed + 2 }
      }
      return nil
    }
  }

  private mutating func take(_ block: [UInt8]) {
    let text = String(decoding: block, as: UTF8.self)
    let lines = text.split(separator: "\n")
    comments += lines.filter { $0.hasPrefix(":") }.map(String.init)
    do {
      try parser.parse(block) { event in
        events.append(
          ReceivedEvent(
            event: event, text: text, carriesID: lines.contains { $0.hasPrefix("id:") }))
      }
    } catch {
      preconditionFailure("an event larger than any test makes: \(error)")
    }
  }
}

/// An event, and how it was written.
struct ReceivedEvent: CustomStringConvertible, Sendable {
  let event: ServerSentEvent
  let text: String
  /// Whether the event itself has an `id`, not one before it.
  let carriesID: Bool

  var type: String { event.type }

  var data: String { event.data }

  /// The id of this event or the last one before it.
  var lastEventID: String { event.lastEventID }

  var json: JSONValue {
    get throws { try JSONValue(parsing: event.data) }
  }

  /// The kind and the data on one line: how tests write down what they expect.
  var description: String { "\(event.type) \(event.data)" }
}
