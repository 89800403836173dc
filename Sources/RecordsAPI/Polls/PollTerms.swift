import Foundation
import HTTPServer
import HTTPTypes

/// How long a request for changes waits, and what its answer says to caches.
struct PollTerms: Sendable {
  static let words: Set<String> = ["after", "wait", "cursor", "snapshot", "minInterval"]

  /// Proxies give up on an answer after a minute, most of them.
  private static let longestWait = 60
  /// A cursor is the clock's; beyond, it is an invention.
  private static let largestCursor = 1 << 53

  /// In seconds; without the word the answer comes at once.
  let wait: Int
  /// Of the answer before.
  private let cursor: Int?
  /// Whether the answer is the same for everybody who asks for the URL.
  var isPublic = false

  init(_ items: QueryItems) throws {
    wait = try items.integer("wait", in: 0...Self.longestWait) ?? 0
    let cursor = items["cursor"].flatMap { Int($0) }
    self.cursor = cursor.flatMap { (0..<Self.largestCursor).contains($0) ? $0 : nil }
  }

  /// What the next request carries, so that its URL is none that a cache has an answer for.
  ///
  /// After news the version makes the URL a new one; after an answer without, this does. It counts
  /// by the clock and not by requests: clients that came at different times ask for the same again,
  /// and a cache joins them.
  func nextCursor(isNews: Bool) -> Int {
    let clock = Int(Date().timeIntervalSince1970) / max(1, wait)
    return isNews ? clock : max(clock, (cursor ?? -1) + 1)
  }

  /// The fields of an answer.
  var fields: HTTPFields {
    guard isPublic else {
      return [.contentType: "application/json", .cacheControl: "private, no-cache"]
    }
    return [
      .contentType: "application/json", .cacheControl: "public, max-age=60",
      .vary: "Origin, Last-Event-ID",
    ]
  }
}

extension StreamOpening {
  /// How the answer to a request for changes begins, which has a version in its URL or, as streams
  /// do, in a field.
  init(poll request: Request, _ items: QueryItems) throws {
    let field = request.fields[.lastEventID]
    if let field, let after = items["after"], after != field {
      throw Problem.badRequest(
        "after=\(after) and Last-Event-ID: \(field) are two versions: give one of them, the one that "
          + "you have")
    }
    self.init(
      lastEventID: items["after"] ?? field, wantsSnapshot: try items.flag("snapshot") ?? true)
  }
}
