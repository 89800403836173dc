import ArgumentParser
import FetchedRecordsClient
import Foundation

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints an event stream for a person at a terminal.",
    discussion: """
      For example didchange watch http://127.0.0.1:8080/v1/queries/players/events. Connects again \
      when the connection is lost, and goes on where it broke off. Goes through the proxy that \
      http_proxy or https_proxy names, unless no_proxy has the server's name.
      """)

  @Argument(help: "The URL of an event stream.")
  var url: String

  func run() throws {
    guard let url = URL(string: url), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host() != nil
    else {
      throw ValidationError("\(url) is no URL that begins with http:// or https://.")
    }
    let printer = EventPrinter(terminal: .standardOutput())
    try wait {
      var watched = WatchedStream(printer: printer)
      try await watched.run(url)
    }
  }
}

/// A stream as a person sees it.
private struct WatchedStream {
  var printer: EventPrinter
  private var hasBegun = false

  init(printer: EventPrinter) { self.printer = printer }

  /// Returns when the server says that there is nothing more to come.
  mutating func run(_ url: URL) async throws {
    var stream = EventStream(url, session: HTTPSession())
    do throws(RemoteRecordsError) {
      _ = try await stream.run { show($0) }
    } catch {
      throw ClientError(Self.words(error))
    }
    StandardError.write("there is nothing more to watch: the query no longer exists\n")
  }

  private mutating func show(_ news: EventStream.News) -> EventStream.Verdict {
    switch news {
    case .opened: hasBegun = true
    case .event(let event):
      let lines = printer.lines(event)
      if !lines.isEmpty { StandardOutput.writePainted(lines.joined(separator: "\n") + "\n") }
    case .waiting: StandardError.write("the server does not answer yet; waiting\n")
    case .lost(.rotated, _), .silent: break
    case .lost(let loss, let delay): tell(Self.words(loss), again: delay)
    // The first failure is an answer, a later one an accident: a server that restarts.
    case .troubled(let problem, _) where !hasBegun: return .refuse(problem)
    case .troubled(let problem, let delay): tell(Self.words(problem), again: delay)
    }
    return .goOn
  }

  private func tell(_ reason: String, again delay: Duration) {
    let time = delay.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    StandardError.write("\(reason); connecting again in \(time)\n")
  }

  private static func words(_ loss: EventStream.Loss) -> String {
    switch loss {
    case .broken(let error as URLError) where error.code == .timedOut: "the server has gone silent"
    case .broken(let error): "the connection broke: \(error.localizedDescription)"
    case .ended, .rotated, .misfit: "the server ended the stream"
    }
  }

  private static func words(_ problem: RemoteRecordsError) -> String {
    if problem.reason == .foreign {
      return "this is no event stream; the URL of one ends in /events"
    }
    guard let status = problem.status else { return problem.description }
    return
      "the server answers \(status): \(problem.detail.isEmpty ? "no reason given" : problem.detail)"
  }
}
