package import Foundation
import Locks

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
  struct Purpose {
    let inflow: HTTPInflow
    /// What is asked for on the same connection when the answer is over, which is of no interest itself.
    var next: URLRequest?
    /// Whether its connection is known to be a new one, and not that of the task before it.
    var isAlone = false
    /// Whether waiting for it may keep the queue busy: see ``QueueBrake``.
    var isBusy = true
    /// Whether the server closes the connection behind the answer (RFC 9112 §9.6).
    var isLast = false
    /// Whether it wants a password that nobody has: the answer that says so is all there is.
    var isRefused = false
  }

  struct State {
    /// nil: it is closed.
    var session: URLSession?
    var purposes: [Int: Purpose] = [:]
    /// The task that holds the queue; nil: none does.
    var brake: Int?
    /// What is to be ended when that is over.
    var closed: URLSession?
  }

  let state = Mutex(State())
  /// One after the other.
  let queue = OperationQueue()

  /// - Parameter configuration: cookies, proxies and the like; caches and limits are set here.
  package init(_ configuration: URLSessionConfiguration = .default) {
    super.init()
    let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.httpMaximumConnectionsPerHost = Self.maximumConnections
    configuration.timeoutIntervalForRequest = Self.longest
    configuration.timeoutIntervalForResource = Self.longest
    #if canImport(FoundationNetworking)
      configuration.protocolClasses = [QueueBrake.self] + (configuration.protocolClasses ?? [])
    #endif
    queue.maxConcurrentOperationCount = 1
    state.withLock {
      $0.session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
    }
  }

  /// Ends all requests. A session that is not closed is never let go.
  func close() {
    let session = state.withLock { state in
      defer { state.session = nil }
      return state.session
    }
    // As `HTTPInflow.cancel()` does it, and why.
    if let session { queue.addOperation { [self] in end(session) } }
  }

  private func end(_ session: URLSession) {
    let isBraked = state.withLock { state in
      if state.brake != nil { state.closed = session }
      return state.brake != nil
    }
    if !isBraked { session.invalidateAndCancel() }
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
    var request = URLRequest(url: url.asked)
    request.timeoutInterval = longest
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }

  private func begin(_ request: URLRequest, _ purpose: Purpose) {
    let task = state.withLock { state in
      let task = state.session?.dataTask(with: request)
      if let task { state.purposes[task.taskIdentifier] = purpose }
      return task
    }
    guard let task else { return purpose.inflow.end(with: URLError(.cancelled)) }
    purpose.inflow.begin(task)
    if purpose.isAlone { brake() } else { brakeLater() }
  }

  /// Whom an answer is for.
  private func reader(of task: URLSessionTask) -> HTTPInflow? {
    state.withLock { $0.purposes[task.taskIdentifier].flatMap { $0.next == nil ? $0.inflow : nil } }
  }

  private func note(_ head: HTTPURLResponse, of task: URLSessionTask) {
    let connection = head.value(forHTTPHeaderField: "Connection")?.lowercased() ?? ""
    state.withLock { state in
      guard let purpose = state.purposes[task.taskIdentifier] else { return }
      state.purposes[task.taskIdentifier]?.isBusy = purpose.isAlone
      state.purposes[task.taskIdentifier]?.isLast = connection.contains("close")
    }
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
    request.url = request.url?.asked
    if Self.origin(request.url) != Self.origin(response.url) {
      request.setValue(nil, forHTTPHeaderField: "Authorization")
    }
    completionHandler(request)
  }

  #if canImport(FoundationNetworking)
    /// Ends with a 401 that has come, where there is no password: on Linux it would have no end.
    package func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let credential = challenge.previousFailureCount == 0 ? challenge.proposedCredential : nil
      if credential == nil {
        state.withLock { $0.purposes[task.taskIdentifier]?.isRefused = true }
      }
      completionHandler(credential == nil ? .rejectProtectionSpace : .useCredential, credential)
    }
  #endif

  /// RFC 6454 §4.
  private static func origin(_ url: URL?) -> [String?] {
    [url?.scheme?.lowercased(), url?.host()?.lowercased(), url?.port.map(String.init)]
  }

  package func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse {
      note(response, of: dataTask)
      reader(of: dataTask)?.add(.head(response))
    }
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
    let purpose = state.withLock { $0.purposes.removeValue(forKey: task.taskIdentifier) }
    guard let purpose else { return brakeEnded(task) }
    let error = purpose.isRefused ? nil : error
    if let next = purpose.next, error == nil {
      begin(next, Purpose(inflow: purpose.inflow, isAlone: purpose.isLast))
    } else {
      purpose.inflow.end(with: error)
    }
  }
}
