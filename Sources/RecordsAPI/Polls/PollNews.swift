import FetchedRecords
import HTTPServer
import JSON
import Locks

/// What a feed has to tell somebody who has a version of it.
struct PollNews: Sendable {
  /// Text beyond this is made as the socket drains; up to here it is made once for all who wait for
  /// the same.
  private static let largestText = 256 * 1024

  /// What the events lead on from; nil: they begin anew.
  private let from: String?
  private let version: String
  private let commit: Int
  /// Where the log ended.
  let position: Broadcast.Position
  /// The events as elements of an array, as far as they are made.
  private var text: [UInt8] = []
  private var objects = EventObjects(.elements)
  /// What is not made yet.
  private var rest: ArraySlice<EventPieces>
  /// Whether the version is not the one that the client has.
  let isNews: Bool

  /// - Parameters:
  ///   - feed: what is asked for.
  ///   - opening: what the client has.
  ///   - commit: what is told anew is of that commit at least.
  ///   - problem: what the client is told of a failure.
  /// - Throws: what keeps the query from being read; a lock does not, as its result is the last that
  ///   could be read.
  init(
    of feed: any StreamableFeed, _ opening: StreamOpening, notBefore commit: Int,
    _ problem: (FetchFailure) -> Problem
  ) throws(Problem) {
    while true {
      let advance = feed.advance(opening, notBefore: commit)
      let member = advance.present.members[0]
      if let failure = member.failure, !failure.leavesLastResult { throw problem(failure) }
      // The log may have dropped them meanwhile: then there is another way.
      guard let told = feed.log.events(from: advance.position, to: advance.present.position) else {
        continue
      }
      let version = advance.present.version
      self.version = version.description
      self.commit = member.snapshot.commit
      position = advance.present.position
      isNews = opening.lastEventID.map(version.names) != true
      rest = (advance.pieces + [.bytes(told)])[...]
      var (text, objects, rest) = (self.text, self.objects, self.rest)
      while text.count < Self.largestText, let piece = rest.nextPiece() {
        objects.append(piece, to: &text)
      }
      from = objects.first == "snapshot" ? nil : opening.lastEventID
      (self.text, self.objects, self.rest) = (text, objects, rest)
      return
    }
  }

  /// Whether there is nothing to tell.
  var isEmpty: Bool { text.isEmpty && rest.isEmpty }

  /// Whether all of its text is made.
  var isWhole: Bool { rest.isEmpty }

  /// The answer's text up to what is not made yet.
  func beginning(_ terms: PollTerms, cursor: Int) -> [UInt8] {
    var json = JSONWriter(reserving: 256)
    json.begin("{")
    json.member("from", from)
    json.member("version", version)
    json.member("commit", commit)
    json.member("cursor", "\(cursor)")
    json.name("events")
    json.begin("[")
    return json.bytes + text + (isWhole ? Self.end : [])
  }

  private static let end = Array("]}".utf8)

  /// Makes the text of a long answer piece by piece.
  func producer(_ terms: PollTerms, cursor: Int) -> StreamBody.Producer {
    struct State {
      var news: PollNews
      var beginning: [UInt8]?
      var isOver = false
    }
    let state = Mutex(State(news: self, beginning: beginning(terms, cursor: cursor)))
    return {
      state.withLock { state in
        if let beginning = state.beginning.take() { return beginning }
        if state.isOver { return nil }
        if let text = state.news.nextText() { return text }
        state.isOver = true
        return Self.end
      }
    }
  }

  private mutating func nextText() -> [UInt8]? {
    guard let piece = rest.nextPiece() else { return nil }
    var text: [UInt8] = []
    objects.append(piece, to: &text)
    return text
  }
}
