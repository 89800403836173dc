public import Foundation
public import Observation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The records of a query of a didchange server, in sections, kept up to date.
///
/// ```swift
/// let players = RemoteRecordsController<Player>(url, parameters: ["country": "FR"])
/// for try await change in players.changeSets { … }
/// ```
///
/// It begins to follow the query when it is first used, and ends with ``close()`` or when nobody holds
/// it or a sequence of it any more. It connects again when it must, after growing waits, and goes on
/// where it broke off; what it shows is always whole change sets. Where something on the way holds
/// streams back it polls.
///
/// In SwiftUI and UIKit it is used as it is: its properties are observed, and change on the main actor
/// only. ``changeSets`` and ``values`` can be iterated anywhere.
///
/// Each controller has a connection of its own.
@MainActor @Observable
public final class RemoteRecordsController<Record: Decodable & Sendable> {
  /// Says who asks: gives a token, which is sent as `Authorization: Bearer`, or nil if nobody has signed
  /// in.
  ///
  /// It is asked when a request needs a token, and what it gives is used until the server answers 401;
  /// then it is asked once more, for another one: `isExpired` is true. If it gives none, the same, or
  /// one that is refused too, the state is `signedOut`. If it throws, it is asked again later.
  public typealias Token = @Sendable (_ isExpired: Bool) async throws -> String?

  @ObservationIgnored nonisolated let subscription: RecordsSubscription<Record>
  /// nil: nobody has looked yet.
  @ObservationIgnored private var following: Task<Void, Never>?
  @ObservationIgnored var handlers = Handlers()
  private var shown = RemoteRecords<Record>()
  private var shownRequest: RemoteRequest?
  private var presentState = RemoteRecordsState.connecting
  private var presentTransport = RemoteRecordsTransport.stream
  private var trouble: RemoteRecordsError?

  /// Follows a query.
  ///
  /// An address that is none of a query is an ``error``.
  ///
  /// - Parameters:
  ///   - url: the address of the query: `https://example.org/v1/queries/players`; parameters and an
  ///     order in it are those of the controller, too.
  ///   - parameters: the values of the query's parameters.
  ///   - order: one of the query's `orders`; nil: the first.
  ///   - window: the places of the records to follow, at most 10 000; nil: all.
  ///   - token: says who asks; nil: nobody in particular, or cookies say it.
  ///   - decoder: decodes records; what a column's type is in Swift says `JSONDecoder.remoteRecords`.
  ///   - configuration: of the session of the connections: cookies, proxies.
  public nonisolated convenience init(
    _ url: URL, parameters: [String: any RemoteParameter] = [:], order: String? = nil,
    window: Range<Int>? = nil, token: Token? = nil, decoder: JSONDecoder = .remoteRecords,
    configuration: URLSessionConfiguration = .default
  ) {
    self.init(
      url, parameters: parameters, order: order, window: window, token: token, decoder: decoder,
      configuration: configuration, settings: LinkSettings())
  }

  nonisolated init(
    _ url: URL, parameters: [String: any RemoteParameter] = [:], order: String? = nil,
    window: Range<Int>? = nil, token: Token? = nil, decoder: JSONDecoder = .remoteRecords,
    configuration: URLSessionConfiguration = .default, settings: LinkSettings
  ) {
    let request = Result { () throws(RemoteRecordsError) in
      var request = try RemoteRequest(url)
      request.parameters.merge(parameters.compactMapValues(\.queryText)) { $1 }
      request.order = order ?? request.order
      request.window = window
      return request
    }
    subscription = RecordsSubscription(
      request, session: HTTPSession(configuration), tokens: token.map(TokenKeeper.init),
      decoder: decoder, settings: settings)
  }

  deinit { following?.cancel() }

  /// Ends it for good; what is shown stays.
  public nonisolated func close() { subscription.close() }

  /// All records as an immutable value.
  public var fetchedRecords: RemoteRecords<Record> {
    start()
    return shown
  }

  /// Whether what is shown is what the server has.
  public var state: RemoteRecordsState {
    start()
    return presentState
  }

  /// How changes come.
  public var transport: RemoteRecordsTransport {
    start()
    return presentTransport
  }

  /// What is wrong now; nil: nothing.
  public var error: RemoteRecordsError? {
    start()
    return trouble
  }

  /// Whether what is shown is of other parameters or of another order than are asked for by now.
  public var isPending: Bool {
    start()
    guard shown.version != nil, let asked, let shownRequest else { return false }
    return !asked.isSameList(as: shownRequest)
  }

  /// Begins to follow the query, if nothing has yet.
  func start() {
    guard following == nil else { return }
    let inbox = subscription.join()
    following = Task { [weak self] in
      while let news = await inbox.next() {
        guard let self else { return }
        self.receive(news)
      }
      self?.presentState = .closed
    }
  }

  private func receive(_ news: News<Record>) {
    switch news {
    case .changes(let changes): handlers.tell(changes, of: self) { shown = changes.new }
    case .state(let state): presentState = state
    case .transport(let transport): presentTransport = transport
    case .shows(let request): shownRequest = request
    case .trouble(let problem):
      trouble = problem
      if let problem { handlers.onError?(self, problem) }
    case .end: break
    }
  }
}
