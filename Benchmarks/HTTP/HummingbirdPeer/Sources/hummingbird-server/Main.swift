import Hummingbird
import NIOPosix
import Synchronization

/// A Hummingbird server with the resources that the load tools know: `hummingbird-server PORT`.
@main
struct Main {
  static func main() async throws {
    let subscribers = Subscribers()
    let router = Router()
    router.get("/sse") { _, _ in
      let events = subscribers.add()
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream"],
        body: ResponseBody { writer in
          for await event in events { try await writer.write(event) }
          try await writer.finish(nil)
        })
    }
    router.post("/pub") { request, _ in
      let body = try await request.body.collect(upTo: 1 << 20)
      var event = ByteBuffer(string: "data: ")
      event.writeImmutableBuffer(body)
      event.writeString("\n\n")
      subscribers.publish(event)
      return HTTPResponse.Status.noContent
    }
    let page = ByteBuffer(string: #"{"pad":""# + String(repeating: "x", count: 10_230) + #""}"#)
    router.get("/json10k") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: page))
    }
    let port = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 8080
    var configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
    configuration.backlog = 4096
    let application = Application(
      router: router, configuration: configuration,
      eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)))
    try await application.runService()
  }
}

/// Who is told of events: a stream for each.
private final class Subscribers: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<ByteBuffer>.Continuation] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  func add() -> AsyncStream<ByteBuffer> {
    let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
    let number = state.withLock { state in
      state.lastNumber += 1
      state.continuations[state.lastNumber] = continuation
      return state.lastNumber
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.continuations.removeValue(forKey: number) }
    }
    return stream
  }

  func publish(_ event: ByteBuffer) {
    for continuation in state.withLock({ $0.continuations.values }) { continuation.yield(event) }
  }
}
