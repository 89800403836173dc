package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// Requests whose answers come piece by piece: a `URLSession`, and what comes for each of its tasks.
package final class HTTPSession: NSObject, Sendable {
  /// Connections to one server: streams keep theirs, and no request must wait behind them.
  private static let maximumConnections = 4096
  /// Seconds, a year: silence is looked at by whoever reads. On Linux it counts from the beginning of a
  /// request, whatever has come meanwhile.
  private static let longest: TimeInterval = 31_536_000

  /// What one task is for.
  private struct Purpose {
    let inflow: HTTPInflow
    /// What is asked for on the same connection when the answer is over, which is of no interest itself.
    var next: URLRequest?
  }

  private let purposes = Mutex<[Int: Purpose]>([:])
  private let session = Mutex<URLSession?>(nil)
  /// One after the other.
  private let queue = OperationQueue()

  /// - Parameter configuration: cookies, proxies and the like; caches and limits are set here.
  package init(_ configuration: URLSessionConfiguration = .default) {
    super.init()
    let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.httpMaximumConnectionsPerHost = Self.maximumConnections
    configuration.timeoutIntervalForRequest = Self.longest
    configuration.timeoutIntervalForResource = Self.longest
    queue.maxConcurrentOperationCount = 1
    session.withLock {
      $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
    }
  }

  /// Ends all requests. A session that is not closed is never let go.
  func close() {
    let session = session.withLock { session in
      defer { session = nil }
      return session
    }
    // As `HTTPInflow.cancel()` does it, and why.
    if let session { queue.addOperation { session.invalidateAndCancel() } }
  }

  /// Begins a GET that is over soon.
  func get(_ url: URL, _ fields: [String: String]) -> HTTPExchange {
    let inflow = HTTPInflow(queue)
    begin(Self.request(url, fields), Purpose(inflow: inflow))
    return HTTPExchange(inflow)
  }

  /// Begins a GET whose answer has no end.
  ///
  /// On Linux a HEAD goes before it on the same connection. There `URLSession` waits until a new
  /// connection can be written to, and never ceases to: while an answer lasts it keeps a core busy
  /// (swift-corelibs-foundation, `_SocketSources`, which are torn down between two requests only).
  func stream(_ url: URL, _ fields: [String: String]) -> HTTPExchange {
    let inflow = HTTPInflow(queue)
    let request = Self.request(url, fields)
    #if canImport(FoundationNetworking)
      var head = request
      head.httpMethod = "HEAD"
      begin(head, Purpose(inflow: inflow, next: request))
    #else
      begin(request, Purpose(inflow: inflow))
    #endif
    return HTTPExchange(inflow)
  }

  private static func request(_ url: URL, _ fields: [String: String]) -> URLRequest {
    var request = URLRequest(url: url)
    request.timeoutInterval = longest
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }

  private func begin(_ request: URLRequest, _ purpose: Purpose) {
    guard let task = session.withLock({ $0?.dataTask(with: request) }) else {
      return purpose.inflow.end(with: URLError(.cancelled))
    }
    purposes.withLock { $0[task.taskIdentifier] = purpose }
    purpose.inflow.begin(task)
  }

  /// Whom an answer is for.
  private func reader(of task: URLSessionTask) -> HTTPInflow? {
    guard let purpose = purposes.withLock({ $0[task.taskIdentifier] }), purpose.next == nil else {
      return nil
    }
    return purpose.inflow
  }
}

extension HTTPSession: URLSessionDataDelegate {
  /// A token is for nobody else.
  package func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    var request = request
    if Self.origin(request.url) != Self.origin(response.url) {
      request.setValue(nil, forHTTPHeaderField: "Authorization")
    }
    completionHandler(request)
  }

  /// RFC 6454 §4.
  private static func origin(_ url: URL?) -> [String?] {
    [url?.scheme?.lowercased(), url?.host()?.lowercased(), url?.port.map(String.init)]
  }

  package func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse { reader(of: dataTask)?.add(.head(response)) }
    completionHandler(.allow)
  }

  package func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
  ) {
    reader(of: dataTask)?.add(.bytes(data))
  }

  package func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let purpose = purposes.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    if let next = purpose.next, error == nil {
      begin(next, Purpose(inflow: purpose.inflow))
    } else {
      purpose.inflow.end(with: error)
    }
  }
}
