import FetchedRecords
import OrderedResults

/// A stream that shows something else than one whole controller as it changes: several queries, a
/// window, or a slower pace. Equal compositions share one feed.
struct Composition: Hashable, Sendable {
  struct Member: Hashable, Sendable {
    let key: FeedKey
    let window: Window?
  }

  /// Members of one stream at most. Each costs what a stream of its own does, for one request; a
  /// target of 8192 bytes has room for some hundreds.
  static let maximumOfMembers = 64

  let members: [Member]
  /// At least this lies between two change sets.
  let minimumInterval: Duration?
  /// Whether the stream was asked for as one of several queries: its events then all say their
  /// query, and `commit` events follow.
  let isMultiple: Bool
  /// Tells it from the others that show the same; nil: it is shared with whoever asks for the same.
  var own: UInt64?
}

/// A part of a result, as LIMIT and OFFSET cut it out.
struct Window: Hashable, Sendable {
  static let words: Set<String> = ["offset", "limit"]

  let offset: Int
  let limit: Int?

  /// - Returns: nil where the request names no window.
  init?(_ items: QueryItems) throws {
    let offset = try items.integer("offset", in: 0...Int.max)
    limit = try items.integer("limit", in: 1...PageParameters.maximumLimit)
    if offset == nil, limit == nil { return nil }
    self.offset = offset ?? 0
  }

  /// The offsets that it shows, as far as there are so many.
  var range: Range<Int> {
    let (end, isTooLarge) = offset.addingReportingOverflow(limit ?? .max)
    return offset..<(isTooLarge ? .max : end)
  }

  /// A longer one is cut from the whole result: it may be as large as that.
  private static let mostByItself = 1000

  /// Whether it may be live by itself.
  var isShort: Bool { limit ?? .max <= Self.mostByItself }

  /// The window's own result; its cost is that of `Results.window(_:)`.
  func results(of whole: Results) -> Results { whole.window(range) }
}
