import ArgumentParser
import FetchedRecordsClient
import Foundation

/// For containers, whose images have no curl.
struct Healthcheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Exits with 0 if a server says that it is well.",
    discussion: "Asks the server itself, whatever proxy http_proxy names.", shouldDisplay: false)

  @Argument(help: "The resource to ask.")
  var url = "http://127.0.0.1:8080/healthz"

  func run() throws {
    guard let url = URL(string: url), url.scheme != nil else {
      throw ValidationError("\(url) is no URL.")
    }
    // Containers are given the proxies of their host, which do not know the server beside this.
    setenv("no_proxy", "*", 1)
    let status = try wait { try await HTTPSession().status(of: url, within: .seconds(2)) }
    guard status == 200 else { throw ClientError("\(url.absoluteString) answers \(status)") }
  }
}
