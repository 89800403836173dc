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
    // Before anything else is opened, and takes its place.
    try StandardOutput.checkIsOpen()
    let url = try address()
    let printer = EventPrinter(terminal: .standardOutput())
    try wait {
      var watched = WatchedStream(printer: printer)
      try await watched.run(url)
    }
  }

  private func address() throws -> URL {
    guard let address = URL(string: url), let scheme = address.scheme?.lowercased(),
      ["http", "https"].contains(scheme), address.host()?.isEmpty == false
    else {
      throw ValidationError("\(url) is no URL that begins with http:// or https://.")
    }
    let range = URLComponents(url: address, resolvingAgainstBaseURL: true)?.rangeOfPort
    if let port = range.map({ address.absoluteString[$0] }), !port.isEmpty,
      !(1...65535).contains(Int(port) ?? 0)
    {
      throw ValidationError("\(url): \(port) is no port; they go from 1 to 65535.")
    }
    return address
  }
}

/// A stream as a person sees it.
private struct WatchedStream {
  var printer: EventPrinter
  private var hasBegun = false
  /// What ends it here.
  private var failure: ClientError?

  init(printer: EventPrinter) { self.printer = printer }

  /// Returns when the server says that there is nothing more to come.
  mutating func run(_ url: URL) async throws {
    var stream = EventStream(url, session: HTTPSession())
    do throws(RemoteRecordsError) {
      _ = try await stream.run { show($0) }
    } catch {
      throw ClientError(Self.words(error))
    }
    if let failure { throw failure }
    StandardError.write("there is nothing more to watch: the query no longer exists\n")
  }

  private mutating func show(_ news: EventStream.News) -> EventStream.Verdict {
    switch news {
    case .opened: hasBegun = true
    case .event(let event):
      write(printer.lines(event))
    case .waiting: StandardError.write("the server does not answer yet; waiting\n")
    case .lost(.rotated, _), .silent, .caughtUp: break
    case .lost(let loss, let delay): tell(Self.words(loss), again: delay)
    // The first failure is an answer, a later one an accident: a server that restarts.
    case .troubled(let problem, _) where !hasBegun: return .refuse(problem)
    case .troubled(let problem, let delay): tell(Self.words(problem), again: delay)
    }
    return .goOn
  }

  private mutating func write(_ lines: [String]) {
    do throws(ClientError) {
      if !lines.isEmpty {
        try StandardOutput.writePainted(lines.joined(separator: "\n") + "\n")
      }
    } catch {
      failure = error
      withUnsafeCurrentTask { $0?.cancel() }
    }
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
