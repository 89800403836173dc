#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking

  /// Holds a session's queue for a moment: the answer to a request that asks nobody.
  ///
  /// On Linux `URLSession` waits until a new connection can be written to, and never ceases to
  /// (swift-corelibs-foundation, `_SocketSources`): while no answer comes its queue looks at the
  /// connection again and again, and keeps a core busy. Held so, it looks twenty times a second, for
  /// 2 to 4 % of a core, and what comes is told as much later at most.
  final class QueueBrake: URLProtocol {
    private static let scheme = "brake"
    /// What it answers.
    static let url = URL(string: "\(scheme):")

    /// Seconds.
    private static let moment: TimeInterval = 0.05

    override static func canInit(with request: URLRequest) -> Bool {
      request.url?.scheme == scheme
    }

    override static func canInit(with task: URLSessionTask) -> Bool {
      task.originalRequest.map(canInit(with:)) ?? false
    }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Called on the queue.
    override func startLoading() {
      Thread.sleep(forTimeInterval: Self.moment)
      client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
  }
#endif
