import Callers
import FetchedRecords
import Foundation
import HTTPServer
import HTTPTypes

/// When the streams end that HTTP caches may share among their clients (`protocol.md` §7).
///
/// All of them end at the same time, so that the clients of many caches come back together and each
/// cache asks for one stream: at multiples of the period since 1970 by the system's clock, by which
/// several servers of one database agree.
struct SharedStreams: Sendable {
  /// In milliseconds; some seconds at least.
  private let period: Int
  private let now: @Sendable () -> UnixSeconds

  /// So many milliseconds a stream lives at least: one second in which it is fresh, and one more.
  private static let shortest = 2000

  /// - Parameters:
  ///   - period: from 3 s to an hour.
  ///   - now: the time.
  init(period: Duration, now: @escaping @Sendable () -> UnixSeconds = { Gatekeeper.now }) {
    self.period = Int(period.wholeNanoseconds / 1_000_000)
    self.now = now
  }

  /// What holds for a stream that begins now.
  ///
  /// One that begins just before the others end goes on to the time after that.
  var next: StreamSharing {
    let start = Int(now() * 1000)
    var end = (start / period + 1) * period
    if end - start < Self.shortest { end += period }
    return StreamSharing(start: start, end: end) { [now] in Int(now() * 1000) }
  }
}

/// How one stream is shared: for how long caches may let others join it, and how it ends.
struct StreamSharing: Sendable {
  /// In milliseconds since 1970.
  private let start: Int
  private let end: Int
  private let now: @Sendable () -> Int

  fileprivate init(start: Int, end: Int, now: @escaping @Sendable () -> Int) {
    (self.start, self.end, self.now) = (start, end, now)
  }

  /// How long the stream lives.
  var lifetime: Duration { .milliseconds(end - start) }

  /// Whole seconds for which the stream is fresh: at least one less than it lives, or whoever comes
  /// back is given the stream that has just ended, again and again.
  var maximumAge: Int { (end - start - 1000) / 1000 }

  /// The stream's end: a block with an id alone, of the state that was shown last, under a number that
  /// no other stream ends with before or after, so that no cache has what follows it.
  ///
  /// The number is the time, in milliseconds since 1970: the same for all streams that end together,
  /// at all servers of the database, and not that of a change set, which are counted from the time in
  /// seconds. A stream that is drained before its time ends with another one, that of the second.
  func term(of log: EventLog) -> StreamTerm {
    StreamTerm(lifetime: lifetime) { [self] position, ending in
      let number = ending == .due ? end : now() / 1000 * 1000 + 1
      guard let state = log.version(at: position)?.state else { return [] }
      return Array("id: \(state).\(number)\n\n".utf8)
    }
  }

  /// The fields of a stream, with those by which it is shared.
  func amending(_ fields: HTTPFields) -> HTTPFields {
    var fields = fields
    fields[.cacheControl] = "public, max-age=\(maximumAge), no-transform"
    fields[.vary] = "Accept, Origin, Last-Event-ID"
    return fields
  }
}

extension Response {
  /// Whether caches may give it to anybody.
  var isPublic: Bool { fields[.cacheControl]?.hasPrefix("public") == true }
}

extension RecordsService {
  /// Whether caches may give the stream that a request asks for to others.
  ///
  /// They may where anybody reads it who shows nothing, and only for those who show nothing: others'
  /// streams end with what they show.
  func mayBeShared(_ subject: StreamSubject, _ request: Request) -> Bool {
    guard sharedStreams != nil, !registry.isDraining, request.fields[.authorization] == nil,
      AccessToken.hidden(in: request.target) == request.target
    else { return false }
    guard let caller else { return true }
    return caller.identity == .anonymous
      && subject.keys.allSatisfy { caller.gate.access(of: $0.query).isForAnybody }
  }
}
