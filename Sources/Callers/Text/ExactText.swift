/// A text that is equal to another only where their bytes are.
///
/// Swift's `String` takes `é` in one scalar and in two as the same; SQLite and RFC 7515 §5.3 do not,
/// and two names that are the same to one reader and not to another are how checks are passed by.
struct ExactText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool { a.text.hasSameBytes(as: b.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// Whether two texts are the same bytes. O(n).
  ///
  /// What `==` has apart has other bytes, and of ASCII it knows that fastest.
  func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && self == other && utf8.elementsEqual(other.utf8)
  }

  /// Whether there is U+0000 in it, where C strings end: what SQLite binds.
  var hasNull: Bool { utf8.contains(0) }

  /// As it may stand in a log message: in quotes, escaped, and cut after 40 characters.
  var quoted: String {
    var text = "\""
    for scalar in unicodeScalars.prefix(40) {
      text += scalar.escaped(asASCII: true)
    }
    return text + (unicodeScalars.count > 40 ? "…\"" : "\"")
  }
}
