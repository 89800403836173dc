import ArgumentParser
import Dispatch
import HTTPServer
import HTTPTypes
import Logging

/// The HTTP server alone, with the resources that the load tools know.
struct BenchServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "http-server", abstract: "What `http` measures.", shouldDisplay: false)

  @Option var port: Int

  func run() throws {
    let broadcast = Broadcast(capacity: 1 << 20)
    var router = Router()
    router.on(.get, "/sse") { _, responder in
      responder.respond(
        .ok, [.contentType: "text/event-stream"],
        body: .stream(StreamBody(broadcast: broadcast, position: broadcast.end)))
    }
    router.on(.post, "/pub") { request, responder in
      // The server hands on no bodies; the load tool sends the event in a field too.
      broadcast.append(Array("data: \(request.fields[.event] ?? "")\n\n".utf8))
      responder.respond(.noContent)
    }
    for (path, size) in [("/json200", 200), ("/json10k", 10_240)] {
      let bytes = Array((#"{"pad":""# + String(repeating: "x", count: size - 10) + #""}"#).utf8)
      router.on(.get, path) { _, responder in
        responder.respond(.ok, [.contentType: "application/json"], body: .bytes(bytes))
      }
    }
    var settings = ServerSettings()
    settings.port = port
    settings.eventLoops = 1
    let routes = router
    let server = Server(settings: settings, logger: Logger(label: "bench")) {
      routes.handle($0, $1)
    }
    _ = try server.start()
    print("ready")
    dispatchMain()
  }
}

extension HTTPField.Name {
  fileprivate static let event = HTTPField.Name("X-Event")!
}
