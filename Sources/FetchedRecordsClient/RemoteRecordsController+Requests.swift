public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension RemoteRecordsController {
  /// The values of the query's parameters.
  ///
  /// Set ``parameters``, ``order`` and ``window`` to ask for something else; all that is set within a
  /// frame is one request. What is shown stays until the first change set of the new request is here: it
  /// leads from one to the other, as if a commit had made the difference; where the server cannot tell
  /// it, or it would be longer than the whole, a reset comes. After a refusal the state is `closed` until
  /// something else is set.
  public var parameters: [String: any RemoteParameter] {
    get { asked?.parameters ?? [:] }
    set { ask { $0.parameters = newValue.compactMapValues(\.queryText) } }
  }

  /// One of the query's `orders`; nil: the first.
  public var order: String? {
    get { asked?.order }
    set { ask { $0.order = newValue } }
  }

  /// The places of the records to follow, at most 10 000; nil: all.
  public var window: Range<Int>? {
    get { asked?.window }
    set { ask { $0.window = newValue } }
  }

  /// What is asked for by now.
  var asked: RemoteRequest? {
    access(keyPath: \.parameters)
    return subscription.request
  }

  private func ask(_ change: (inout RemoteRequest) -> Void) {
    withMutation(keyPath: \.parameters) { subscription.ask(change) }
  }

  /// The address of a resource of the query, with its parameters: `records`, `sections`, …
  ///
  /// nil: the controller's own address is none of a query.
  public nonisolated func address(_ resource: String) -> URL? {
    subscription.request?.address(resource)
  }

  /// The bytes of a BLOB.
  ///
  /// - Throws: ``RemoteRecordsError`` where the server does not give them; `CancellationError`.
  public nonisolated func data(of blob: RemoteBlob) async throws -> Data {
    guard let request = subscription.request,
      let url = URL(string: blob.url, relativeTo: request.address(""))?.absoluteURL,
      url.absoluteString.hasPrefix(request.base.absoluteString)
    else {
      throw RemoteRecordsError(.address, "“\(blob.url)” is not of this query", "")
    }
    let answer = try await subscription.session.whole(
      url, tokens: subscription.tokens, within: .seconds(30))
    guard answer.head.statusCode == 200 else {
      throw RemoteRecordsError(status: answer.head.statusCode, body: answer.body)
    }
    return Data(answer.body)
  }
}
