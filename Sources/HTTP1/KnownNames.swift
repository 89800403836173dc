import HTTPTypes

/// The names that nearly all requests are made of, found without making a string of them.
enum KnownNames {
  /// HTTPTypes keeps this one to itself, for `HTTPRequest.authority`.
  static let host = HTTPField.Name("Host")

  /// A field's name, or nil where it is not one of them.
  ///
  /// The name is as it is registered and not as it was sent; that difference means nothing
  /// (RFC 9110 §5.1).
  static func field(_ bytes: Span<UInt8>, _ name: Range<Int>) -> HTTPField.Name? {
    switch name.count {
    case 4 where bytes.equals("host", in: name): host
    case 6 where bytes.equals("accept", in: name): .accept
    case 6 where bytes.equals("origin", in: name): .origin
    case 6 where bytes.equals("cookie", in: name): .cookie
    case 7 where bytes.equals("referer", in: name): .referer
    case 10 where bytes.equals("user-agent", in: name): .userAgent
    case 10 where bytes.equals("connection", in: name): .connection
    case 12 where bytes.equals("content-type", in: name): .contentType
    case 13 where bytes.equals("cache-control", in: name): .cacheControl
    case 13 where bytes.equals("if-none-match", in: name): .ifNoneMatch
    case 14 where bytes.equals("content-length", in: name): .contentLength
    case 15 where bytes.equals("accept-encoding", in: name): .acceptEncoding
    case 15 where bytes.equals("accept-language", in: name): .acceptLanguage
    default: nil
    }
  }

  /// What a serializer makes of a field.
  enum Written { case ours, date, other }

  /// Whose it is to write a field.
  ///
  /// The length alone tells nearly all other names apart: the library compares whole texts.
  static func written(_ name: HTTPField.Name) -> Written {
    switch name.rawName.utf8.count {
    case 4 where name == .date: .date
    case 10 where name == .connection: .ours
    case 14 where name == .contentLength: .ours
    case 17 where name == .transferEncoding: .ours
    case 22 where name == .xContentTypeOptions: .ours
    default: .other
    }
  }

  /// Whether a field says what is in a body, and nothing else.
  static func isOfContent(_ name: HTTPField.Name) -> Bool {
    switch name.rawName.utf8.count {
    case 12: name == .contentType
    case 13: name == .contentRange
    default: false
    }
  }
}
