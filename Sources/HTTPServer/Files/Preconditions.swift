import HTTP1
package import HTTPTypes

/// The conditions of a GET or HEAD (RFC 9110 §13).
package struct Preconditions: Sendable {
  private let fields: HTTPFields

  /// The conditions in the fields of a request.
  package init(_ fields: HTTPFields) { self.fields = fields }

  /// Whether to answer 304.
  ///
  /// If-None-Match alone decides where it is there (§13.2.2): it is exact, and a date has whole
  /// seconds only.
  ///
  /// - Parameters:
  ///   - tag: The present ETag, in quotes.
  ///   - modified: The present Last-Modified, in seconds since 1970, if there is one.
  /// - Returns: Whether the client has the present state already.
  package func isUnchanged(tag: String, modified: Int? = nil) -> Bool {
    if let list = fields.value(of: .ifNoneMatch) {
      // Mostly it is what we gave.
      return list == tag || Self.matches(list, tag)
    }
    guard let modified, let date = fields.value(of: .ifModifiedSince).flatMap(Self.seconds)
    else { return false }
    return modified <= date
  }

  static func seconds(_ date: String) -> Int? {
    HTTPDate.seconds(date, now: SystemCalls.wallClock())
  }

  /// The weak comparison of §8.8.3.2: `W/` says nothing.
  private static func matches(_ list: String, _ tag: String) -> Bool {
    let opaque = withoutWeakness(tag[...])
    // A tag may contain a comma, but ours do not.
    return list.split(separator: ",").contains { element in
      let element = element.drop { $0 == " " || $0 == "\t" }
      let end = element.lastIndex { $0 != " " && $0 != "\t" }
      guard let end else { return false }
      let tag = element[...end]
      return tag == "*" || withoutWeakness(tag) == opaque
    }
  }

  private static func withoutWeakness(_ tag: Substring) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
  }
}
