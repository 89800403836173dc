/// One `name=value` of a query, decoded.
package struct QueryItem: Sendable, Equatable {
  /// The text before the first `=`.
  package var name: String

  /// The text after it, or nil where there is no `=`.
  package var value: String?
}

extension QueryItem {
  /// The items of a query without its `?`, in order, repeated names too, or nil where one is
  /// malformed.
  ///
  /// O(n).
  package static func items(of query: some StringProtocol) -> [QueryItem]? {
    let bytes = Array(query.utf8)
    return items(bytes.span, 0..<bytes.count)
  }

  /// Read as `application/x-www-form-urlencoded` (WHATWG URL §5.1), as forms and URLSearchParams
  /// write it: `+` is a space, empty items are skipped.
  static func items(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [QueryItem]? {
    var result: [QueryItem] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let end = bytes.firstIndex(of: UInt8(ascii: "&"), in: start..<range.upperBound)
      if end > start {
        guard let item = item(bytes, start..<end) else { return nil }
        result.append(item)
      }
      start = end + 1
    }
    return result
  }

  private static func item(_ bytes: Span<UInt8>, _ range: Range<Int>) -> QueryItem? {
    let mark = bytes.firstIndex(of: UInt8(ascii: "="), in: range)
    guard
      let name = PercentEncoding.decoded(bytes, range.lowerBound..<mark, plusIsSpace: true)
    else { return nil }
    guard mark < range.upperBound else { return QueryItem(name: name, value: nil) }
    return PercentEncoding.decoded(bytes, mark + 1..<range.upperBound, plusIsSpace: true)
      .map { QueryItem(name: name, value: $0) }
  }
}
