import HTTPServer

/// The list in `Accept`: RFC 9110 §12.5.1.
struct MediaRanges {
  private struct Range {
    let type: Substring
    let subtype: Substring
    let quality: Double
  }

  private let ranges: [Range]

  /// - Parameter field: all lines of the field, joined by commas; nil and nothing accept all.
  init(_ field: String?) {
    ranges = (field ?? "").listItems.compactMap { item in
      let parts = item.split(separator: ";").map { $0.trimmingPrefix(while: Self.isSpace) }
      let names = (parts.first ?? "").split(separator: "/")
      guard names.count == 2 else { return nil }
      let quality = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
      return Range(
        type: names[0], subtype: names[1].prefix { !Self.isSpace($0) },
        quality: quality.flatMap { Double($0.dropFirst(2).prefix { !Self.isSpace($0) }) } ?? 1)
    }
  }

  private static func isSpace(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  /// Whether an answer of this type is welcome; the most specific range decides.
  ///
  /// A field of which nothing can be read accepts all: to refuse would help nobody.
  func accept(_ type: String) -> Bool { quality(of: type) > 0 }

  /// How welcome an answer of this type is, from 0 to 1.
  func quality(of type: String) -> Double {
    let names = type.lowercased().split(separator: "/")
    let best = ranges.filter { range in
      (range.type == "*" || range.type.lowercased() == names[0])
        && (range.subtype == "*" || range.subtype.lowercased() == names[1])
    }.max { rank($0) < rank($1) }
    return ranges.isEmpty ? 1 : best?.quality ?? 0
  }

  private func rank(_ range: Range) -> Int {
    range.type == "*" ? 0 : range.subtype == "*" ? 1 : 2
  }
}
