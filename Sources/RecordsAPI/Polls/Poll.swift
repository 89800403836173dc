import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import Locks

/// A request that is answered with what has changed since a version, or waits until something has
/// (`protocol.md` §8).
///
/// While it waits it is an entry in its log's ``WaitingPolls`` and in ``PollTimes``, and no thread.
final class Poll: Sendable {
  /// Where answers are made: neither the engine nor an event loop waits for them.
  static let queue = DispatchQueue(
    label: "didchange.polls", qos: .userInitiated, attributes: .concurrent)

  let lease: StreamLease
  let group: WaitingPolls.Group
  /// The tick at which it is answered whatever there is.
  let end: UInt64
  private let opening: StreamOpening
  private let terms: PollTerms
  private let responder: Responder
  private let times: PollTimes
  /// Tells that what the caller may see may be something else; nil: that cannot be.
  private let watch: PollWatch?
  /// What the client is told of a failure.
  private let problem: @Sendable (FetchFailure) -> Problem
  private let isOver = Atomic(false)

  init(
    _ lease: StreamLease, _ opening: StreamOpening, notBefore commit: Int = 0, _ terms: PollTerms,
    until end: UInt64, _ responder: Responder, _ times: PollTimes, watch: PollWatch? = nil,
    problem: @escaping @Sendable (FetchFailure) -> Problem = { Problem($0) }
  ) {
    self.lease = lease
    self.opening = opening
    self.terms = terms
    self.responder = responder
    self.times = times
    self.watch = watch
    self.problem = problem
    self.end = end
    group = WaitingPolls.Group(version: opening.lastEventID, commit: commit)
  }

  /// Answers, or waits.
  func begin() {
    let news = Result { try self.news() }
    let mustWait = (try? news.get().isEmpty) ?? false && !isDue && opening.lastEventID != nil
    guard mustWait, lease.feed.log.polls.add(self) else { return respond(news) }
    // What came before it was added has woken nobody.
    if (try? news.get().position) != lease.feed.log.broadcast.end { lease.feed.log.polls.wake() }
    times.add(self)
    // Whoever takes the place of one that is over hears of that by itself.
    if !isOver.load(ordering: .sequentiallyConsistent) {
      responder.whenAbandoned { [self] in
        // Who has closed only their half of the connection is answered; nobody else hears it.
        Poll.queue.async { [self] in Poll.answer([self], inAnyCase: true) }
      }
    }
    // It may have been answered, or have started over, before it was added.
    if isOver.load(ordering: .sequentiallyConsistent) { leave() }
  }

  private var isDue: Bool { terms.wait == 0 || PollTimes.hasPassed(end) }

  private func news() throws(Problem) -> PollNews {
    try PollNews(of: lease.feed, opening, notBefore: group.commit, problem)
  }

  /// Answers those who have the same version of the same feed, if there is anything to tell.
  ///
  /// O(b + p), b bytes of the events for p polls.
  static func answer(_ polls: [Poll], inAnyCase: Bool) {
    guard let first = polls.first else { return }
    let news = Result { try first.news() }
    if !inAnyCase, (try? news.get().isEmpty) == true { return }
    var made = MadeText()
    for poll in polls { poll.respond(news, &made) }
  }

  /// Its time is over.
  func timePassed() { Poll.answer([self], inAnyCase: true) }

  // MARK: - The answer

  /// The last text that was made: mostly it is that of the next one too.
  private struct MadeText {
    var cursor = -1
    var bytes: [UInt8] = []
  }

  private func respond(_ news: Result<PollNews, any Error>) {
    var made = MadeText()
    respond(news, &made)
  }

  private func respond(_ news: Result<PollNews, any Error>, _ made: inout MadeText) {
    // What was read before the claims changed may be shown, and nothing that was read since.
    guard watch?.isStale != true, finish() else { return }
    do {
      if let problem = watch?.expiry { throw problem }
      let news = try news.get()
      let cursor = terms.nextCursor(isNews: news.isNews)
      guard news.isWhole else { return respond(news, cursor) }
      if made.cursor != cursor {
        made = MadeText(cursor: cursor, bytes: news.beginning(terms, cursor: cursor))
      }
      // The client's next request may be here before anything after its answer is done.
      lease.end()
      responder.respond(Response(.ok, terms.fields, body: .bytes(made.bytes)))
    } catch {
      lease.end()
      responder.respond(RecordsService.response(to: error))
    }
  }

  /// With a text that is too long to be held.
  private func respond(_ news: PollNews, _ cursor: Int) {
    let ended = Broadcast(capacity: 0)
    ended.close()
    let body = StreamBody(
      prefix: news.producer(terms, cursor: cursor), broadcast: ended, position: ended.end,
      onEnd: { [lease] in lease.end() })
    responder.respond(Response(.ok, terms.fields, body: .stream(body)))
  }

  /// What the caller may see may be something else: it is found out anew.
  func startOver(_ again: () -> Void) {
    guard finish() else { return }
    lease.end()
    again()
  }

  /// Nothing leads to another answer any more.
  ///
  /// - Returns: whether there was none.
  private func finish() -> Bool {
    guard !isOver.exchange(true, ordering: .sequentiallyConsistent) else { return false }
    leave()
    watch?.end()
    return true
  }

  /// Nobody has to answer it any more, or holds it for that.
  private func leave() {
    lease.feed.log.polls.remove(self)
    times.remove(self)
  }
}
