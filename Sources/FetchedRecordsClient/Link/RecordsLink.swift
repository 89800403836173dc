import Foundation
import ServerSentEvents

/// What tests do not wait for, or make so large.
struct LinkSettings: Sendable {
  /// The longest wait that is drawn after a failure.
  var longestWait: Duration = .seconds(30)
  /// Whether what holds streams back, or cuts them, is looked for.
  var testsConnection = true
  /// In bytes: 256 MiB hold a snapshot of some two million records.
  var maximumEventSize = 256 << 20
}

/// Follows a query over whatever connections it takes, and keeps its records.
actor RecordsLink<Record: Decodable & Sendable> {
  let audience: Audience<Record>
  private let session: HTTPSession
  private let tokens: TokenKeeper?
  private let decoder: JSONDecoder
  private let settings: LinkSettings
  private var records = RemoteRecords<Record>()
  /// Whether the records are what the server goes on from; else only a snapshot helps.
  private var isInStep = true
  private var assembly = ChangeSetAssembly()
  /// Whether the last request was refused; whether all others would be.
  private var hasEnded = false
  private var isOver = false
  /// Whether the server has polls.
  private var hasPolls = true
  private var transport = RemoteRecordsTransport.stream

  init(
    audience: Audience<Record>, session: HTTPSession, tokens: TokenKeeper?, decoder: JSONDecoder,
    settings: LinkSettings
  ) {
    self.settings = settings
    (self.audience, self.session) = (audience, session)
    (self.tokens, self.decoder) = (tokens, decoder)
  }

  /// Follows one request until the task is cancelled, or there is nothing more to come.
  func follow(_ request: RemoteRequest) async {
    if isOver { return }
    assembly.interrupt()
    if records.version == nil {
      audience.tell(.state(.connecting))
    } else if hasEnded {
      audience.tell(.state(.stale))
    }
    hasEnded = false
    do throws(RemoteRecordsError) {
      if try await run(request), !Task.isCancelled { end(nil) }
    } catch {
      if !Task.isCancelled { end(error) }
    }
  }

  /// Says what is wrong before anything was asked for.
  func refuse(_ problem: RemoteRecordsError) { end(problem) }

  /// - Returns: whether there is nothing more to come; else the task is cancelled.
  private func run(_ request: RemoteRequest) async throws(RemoteRecordsError) -> Bool {
    while !Task.isCancelled {
      switch transport {
      case .stream:
        var stream = EventStream(
          request.address("events", [("heartbeat", "event")]), session: session, tokens: tokens,
          testBase: settings.testsConnection && hasPolls ? request.base : nil,
          lastEventID: lastEventID, settings: settings)
        switch try await stream.run({ receive($0, request) }) {
        case .over: return true
        case .cancelled: return false
        case .heldBack: change(to: .longPoll)
        }
      case .longPoll:
        var polls = LongPolls(
          request, session: session, tokens: tokens, version: lastEventID,
          backoff: Backoff(longest: settings.longestWait))
        switch try await polls.run({ receive($0, request) }) {
        case .over: return true
        case .cancelled: return false
        case .missing:
          hasPolls = false
          change(to: .stream)
        case .stream: change(to: .stream)
        }
      }
    }
    return false
  }

  private func change(to transport: RemoteRecordsTransport) {
    self.transport = transport
    assembly.interrupt()
    audience.tell(.transport(transport))
  }

  /// What the next connection goes on after; empty: nothing.
  private var lastEventID: String { isInStep ? records.version ?? "" : "" }

  // MARK: - What comes

  private func receive(
    _ news: EventStream.News, _ request: RemoteRequest
  ) -> EventStream.Verdict {
    if Task.isCancelled { return .goOn }
    switch news {
    case .opened:
      if records.version != nil, isInStep { audience.tell(.state(.live)) }
    // Where both requests have the same records no difference comes.
    case .caughtUp:
      if records.version != nil, isInStep { audience.tell(.shows(request)) }
    // A query may take long.
    case .waiting: break
    case .lost: interrupt()
    case .troubled(let problem, _):
      audience.tell(.trouble(problem))
      interrupt()
    // The rest of a change set may still come.
    case .silent(let problem):
      audience.tell(.trouble(problem))
      tellStale()
    case .event(let event): return receive(event, request)
    }
    return .goOn
  }

  private func receive(
    _ event: ServerSentEvent, _ request: RemoteRequest
  ) -> EventStream.Verdict {
    do {
      switch try assembly.receive(event.type, RawJSON(event.data)) {
      case .snapshot(let snapshot): try begin(with: snapshot)
      case .changeSet(let changes):
        guard isInStep else { return startOver() }
        try apply(changes)
      case .failure(let problem):
        if problem.isForGood { return .refuse(problem) }
        audience.tell(.trouble(problem))
        return .goOn
      case .recovery:
        audience.tell(.trouble(nil))
        return .goOn
      case nil: return .goOn
      }
    } catch is ChangeSetError {
      return startOver()
    } catch {
      // With other records it may be another story.
      isInStep = false
      audience.tell(.trouble(.undecodable(Record.self, error)))
      return .goOn
    }
    audience.tell(.shows(request))
    audience.tell(.state(.live))
    return .goOn
  }

  private func interrupt() {
    assembly.interrupt()
    tellStale()
  }

  private func tellStale() {
    audience.tell(.state(records.version == nil ? .connecting : .stale))
  }

  private func startOver() -> EventStream.Verdict {
    isInStep = false
    interrupt()
    return .startOver
  }

  // MARK: - Records

  private func begin(with snapshot: RawJSON) throws {
    let new = try RemoteRecords<Record>(snapshot: snapshot, decoder)
    isInStep = true
    // A stream that begins anew with what is shown.
    if new.version == records.version, new.version != nil { return }
    show(RemoteRecordsChangeSet(resetFrom: records, to: new))
  }

  private func apply(_ changes: ChangeSetAssembly.RawChangeSet) throws {
    guard let version = records.version, version.stateOfVersion == changes.from.stateOfVersion
    else {
      throw ChangeSetError("\(changes.from) is not what is shown")
    }
    show(try records.applying(changes, decoder))
  }

  private func show(_ changes: RemoteRecordsChangeSet<Record>) {
    records = changes.new
    audience.tell(.changes(changes))
  }

  private func end(_ problem: RemoteRecordsError?) {
    hasEnded = true
    let state: RemoteRecordsState =
      switch problem?.reason {
      case .signedOut: .signedOut
      case .forbidden: .forbidden
      default: .closed
      }
    isOver = problem?.isForGood == true
    // What is shown may not be seen any more.
    if state != .closed, records.version != nil {
      show(RemoteRecordsChangeSet(resetFrom: records, to: RemoteRecords()))
    }
    if let problem { audience.tell(.trouble(problem)) }
    audience.tell(.end(problem))
    audience.tell(.state(state))
  }
}

extension String {
  /// What of a version names the content (`protocol.md` §5).
  var stateOfVersion: Substring { prefix { $0 != "." } }
}

extension RemoteRecordsError {
  static func undecodable(_ type: Any.Type, _ error: any Error) -> RemoteRecordsError {
    RemoteRecordsError(
      .undecodable, "A record is no \(type)", "\(error)", underlying: error)
  }
}
