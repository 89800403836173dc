import ArgumentParser
import Foundation
import HTTPTypes
import ServerSentEvents

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints an event stream for a person at a terminal.",
    discussion: """
      For example didchange watch http://127.0.0.1:8080/v1/queries/players/events. Connects again \
      when the connection is lost, and goes on where it broke off.
      """)

  @Argument(help: "The URL of an event stream; http only.")
  var url: String

  func run() throws {
    guard let url = URL(string: url), url.scheme != nil else {
      throw ValidationError("\(url) is no URL that begins with http://.")
    }
    var stream = WatchedStream(url: url, printer: EventPrinter(terminal: .standardOutput()))
    try stream.run()
  }
}

/// An answer that another attempt would not change.
private struct Refusal: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// One stream over as many connections as it takes.
private struct WatchedStream {
  /// Seconds without a byte: three heartbeats of the server that failed to come are no accident.
  private static let silence = 45
  /// Milliseconds, what browsers take until a server says otherwise.
  private static let standardRetry: UInt = 3000
  /// Milliseconds: a server that says 0 is not asked in a circle, and one that says a day not after
  /// one.
  private static let retries: ClosedRange<UInt> = 100...60_000

  let url: URL
  var printer: EventPrinter
  private var parser = EventParser()
  private var hasBegun = false

  init(url: URL, printer: EventPrinter) {
    self.url = url
    self.printer = printer
  }

  /// Returns when the server says that there is nothing more to come.
  mutating func run() throws {
    while true {
      var reason = "the server ended the stream"
      do {
        guard let end = try readConnection() else { return }
        if end == .rotation {
          // Thousands do the same in this moment.
          Thread.sleep(forTimeInterval: .random(in: 0...1))
          continue
        }
      } catch let error as ClientError where hasBegun {
        // The first failure is an answer, a later one an accident: a server that restarts.
        reason = error.description
      }
      let wanted = parser.reconnectionTime ?? Self.standardRetry
      let retry = min(max(wanted, Self.retries.lowerBound), Self.retries.upperBound)
      StandardError.write("\(reason); connecting again in \(Double(retry) / 1000) s\n")
      Thread.sleep(forTimeInterval: Double(retry) / 1000)
    }
  }

  private enum End {
    case any
    /// Of a stream that caches share, which ends by the clock (`protocol.md` §7).
    case rotation
  }

  /// Returns nil where the stream is over for good.
  private mutating func readConnection() throws -> End? {
    var fields = ["Accept": "text/event-stream", "Cache-Control": "no-cache"]
    if !parser.lastEventID.isEmpty { fields["Last-Event-ID"] = parser.lastEventID }
    let response = try HTTPGet(url, fields: fields, silence: Self.silence)
    // WHATWG HTML §9.2.3: 204 tells a client to stop.
    guard response.status != 204 else {
      StandardError.write("there is nothing more to watch: the query no longer exists\n")
      return nil
    }
    try check(response)
    hasBegun = true
    // A broken event is forgotten with its connection; its id and the pace are not.
    var next = EventParser(lastEventID: parser.lastEventID)
    defer { parser = next }
    while let bytes = try response.receive() {
      var lines: [String] = []
      try next.parse(bytes) { lines += printer.lines($0) }
      if !lines.isEmpty { StandardOutput.writePainted(lines.joined(separator: "\n") + "\n") }
    }
    return response.fields[.cacheControl]?.hasPrefix("public") == true ? .rotation : .any
  }

  private func check(_ response: HTTPGet) throws {
    if response.status >= 500, hasBegun {
      throw ClientError("the server answers \(response.status)")
    }
    guard response.status == 200 else {
      let problem = JSONText.members(try response.text(limit: 65536))
      let detail = problem.first { $0.name == "detail" }.map { JSONText.plain($0.value) }
      throw Refusal("the server answers \(response.status): \(detail ?? "no reason given")")
    }
    guard response.fields[.contentType]?.hasPrefix("text/event-stream") == true else {
      throw Refusal("this is no event stream; the URL of one ends in /events")
    }
  }
}
