import CCurl
import Foundation
import ServerSentEvents

/// An event stream as a client gets it.
final class EventStream {
  /// What the stream was asked for, beside its path.
  struct Options: Sendable {
    var lastEventID: String?
    var fields: [String] = []
    var isHTTP10 = false
    /// Whether the client's system takes in next to nothing that the client does not read.
    var hasSmallBuffer = false
  }

  private let path: String
  private let inbox = Inbox()
  /// What must not end before the stream.
  private let owner: AnyObject?

  init(_ base: String, _ path: String, _ options: Options = Options(), owner: AnyObject? = nil) {
    self.path = path
    self.owner = owner
    CurlLoop.shared.add { [inbox] in
      let handle = CurlHandle()
      handle.inbox = inbox
      handle.set(CURLOPT_URL, base + path)
      handle.set(CURLOPT_HTTP_VERSION, options.isHTTP10 ? 1 : 0)
      if options.hasSmallBuffer { _ = curl_set_receive_buffer(handle.pointer, 4096) }
      // A stream has its connection for itself, and ends with it.
      handle.set(CURLOPT_FRESH_CONNECT, 1)
      handle.set(CURLOPT_FORBID_REUSE, 1)
      handle.setFields(
        options.fields + (options.lastEventID.map { ["Last-Event-ID: \($0)"] } ?? []))
      handle.onHead = { inbox.receive(headLine: $0) }
      handle.onBody = { inbox.receive($0) }
      return CurlLoop.Transfer(handle: handle) { inbox.end($0) }
    }
  }

  deinit { close() }

  /// Closes the connection, as a browser does when its page is left.
  func close() {
    CurlLoop.shared.remove { [inbox] in inbox.isFed(by: $0) }
  }

  /// Reads no more, as a client does that is stuck, until it is told to go on.
  func pause() { inbox.setPaused(true) }

  func goOn() {
    inbox.setPaused(false)
    CurlLoop.shared.forEach { [inbox] handle in
      if inbox.isFed(by: handle) { curl_easy_pause(handle.pointer, CURLPAUSE_CONT) }
    }
  }

  /// The status and the header fields, waited for.
  func head(within timeout: TimeInterval = patience) throws -> ResponseHead {
    try inbox.wait(until: Date(timeIntervalSinceNow: timeout)) {
      $0.head.isComplete ? $0.head : nil
    }
      ?? { throw TimedOut("the head of \(path)") }()
  }

  /// The next event, waited for.
  ///
  /// - Returns: nil at the end of the stream.
  func next(within timeout: TimeInterval = patience) throws -> ReceivedEvent? {
    let found: ReceivedEvent?? = inbox.wait(until: Date(timeIntervalSinceNow: timeout)) { inbox in
      if !inbox.events.isEmpty { return .some(inbox.events.removeFirst()) }
      return inbox.ending == nil ? nil : .some(nil)
    }
    guard let found else { throw TimedOut("an event of \(path); the stream: \(text)") }
    return found
  }

  /// Waits for the end.
  ///
  /// - Returns: libcurl's code for how it ended.
  func end(within timeout: TimeInterval = patience) throws -> CURLcode {
    try inbox.wait(until: Date(timeIntervalSinceNow: timeout)) { $0.ending }
      ?? { throw TimedOut("the end of \(path)") }()
  }

  /// Waits for a comment that has not been waited for yet.
  func comment(within timeout: TimeInterval = patience) throws -> String {
    try inbox.wait(until: Date(timeIntervalSinceNow: timeout)) { inbox in
      inbox.comments.isEmpty ? nil : inbox.comments.removeFirst()
    } ?? { throw TimedOut("a comment of \(path)") }()
  }

  /// Events that have arrived and nobody has taken.
  var waiting: [ReceivedEvent] { inbox.read { $0.events } }

  /// All events so far, from the first on, taken or not.
  var allEvents: [ReceivedEvent] {
    let replay = Inbox()
    _ = bytes.withUnsafeBytes { replay.receive($0) }
    return replay.read(\.events)
  }

  /// All bytes so far.
  var bytes: [UInt8] { inbox.read { $0.bytes } }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Everything but what differs from stream to stream: the jittered delay and the heartbeats.
  var sharedText: String {
    text.split(separator: "\n\n").filter { !$0.hasPrefix("retry:") && !$0.hasPrefix(":") }
      .joined(separator: "\n\n")
  }

  /// How long the client was last asked to wait before it comes back, in milliseconds.
  var reconnectionTime: UInt? { inbox.read { $0.parser.reconnectionTime } }

  /// What the client would send as `Last-Event-ID` if the stream broke now.
  var lastEventID: String { inbox.read { $0.parser.lastEventID } }
}
