import HTTP1
import HTTPTypes

/// The conditions of a GET or HEAD on what it gets (RFC 9110 §13).
///
/// They are held against the answer that was made without them, in one place for all resources:
/// they count only where that has something to give (§13.2.1), and its own fields are what they are
/// about. What POST asks for here has no representation to select, so that they say nothing of it.
struct Preconditions: Sendable {
  private let fields: HTTPFields

  /// The conditions of a request, or nil where it has none.
  init?(_ head: RequestHead) {
    guard head.isConditional, head.method == .get || head.method == .head else { return nil }
    fields = head.fields
  }

  /// What is sent instead of an answer.
  ///
  /// O(fields and tags).
  func apply(to response: Response) -> Response {
    // §14.2: a range is looked at after the conditions, and 416 is a 200 without it.
    switch response.status.code {
    case 200, 206, 416: break
    default: return response
    }
    if hasFailed(on: response) { return Self.refusal(of: response) }
    guard isUnchanged(response) else { return response }
    // The serializer leaves out the body, and what says what is in it.
    var response = response
    response.status = .notModified
    return response
  }

  /// Steps 1 and 2 of §13.2.2.
  private func hasFailed(on response: Response) -> Bool {
    if let list = fields.value(of: .ifMatch) {
      // §13.1.1: compared strongly.
      return !Self.matches(list, response.fields.value(of: .eTag)) { $0 }
    }
    // §13.1.4: ignored where it is no date, and where there is none to compare it with.
    guard let date = seconds(.ifUnmodifiedSince), let modified = Self.modified(response) else {
      return false
    }
    return modified > date
  }

  /// Steps 3 and 4.
  ///
  /// If-None-Match alone decides where it is there: it is exact, and a date has whole seconds only.
  private func isUnchanged(_ response: Response) -> Bool {
    if let list = fields.value(of: .ifNoneMatch) {
      // §8.8.3.2, the weak comparison: `W/` says nothing.
      return Self.matches(list, response.fields.value(of: .eTag)) {
        $0.hasPrefix("W/") ? $0.dropFirst(2) : $0
      }
    }
    guard let date = seconds(.ifModifiedSince), let modified = Self.modified(response) else {
      return false
    }
    return modified <= date
  }

  private static func refusal(of response: Response) -> Response {
    var refusal = Problem.response(
      Problem(
        .preconditionFailed,
        "What is here is not in the state that the request asks for: ask again without If-Match "
          + "and If-Unmodified-Since."))
    refusal.route = response.route
    // Whoever may read the answer may read why there is none, and which state there is instead.
    for field in response.fields
    where field.name == .eTag || field.name == .vary
      || field.name.canonicalName.hasPrefix("access-control-")
    {
      refusal.fields.append(field)
    }
    response.discard()
    return refusal
  }
}

extension Preconditions {
  private func seconds(_ name: HTTPField.Name) -> Int? {
    fields.value(of: name).flatMap(Self.seconds)
  }

  private static func modified(_ response: Response) -> Int? {
    response.fields.value(of: .lastModified).flatMap(seconds)
  }

  static func seconds(_ date: String) -> Int? {
    HTTPDate.seconds(date, now: SystemCalls.wallClock())
  }

  /// Whether a list names a tag, or is `*`, which whatever is there matches.
  private static func matches(
    _ list: String, _ tag: String?, comparing part: (Substring) -> Substring
  ) -> Bool {
    // Mostly it is what we gave.
    if list == tag || list == "*" { return true }
    guard let tag else { return false }
    // A tag may contain a comma, or be weak, but ours are not so.
    return list.listItems.contains { part($0) == tag }
  }
}
