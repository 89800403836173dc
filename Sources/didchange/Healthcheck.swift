import ArgumentParser
import Foundation

/// For containers, whose images have no curl.
struct Healthcheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Exits with 0 if a server says that it is well.", shouldDisplay: false)

  @Argument(help: "The resource to ask.")
  var url = "http://127.0.0.1:8080/healthz"

  func run() throws {
    guard let url = URL(string: url) else { throw ValidationError("\(url) is no URL.") }
    let status = try HTTPGet(url, fields: [:], silence: 2).status
    guard status == 200 else { throw ClientError("\(url.absoluteString) answers \(status)") }
  }
}
