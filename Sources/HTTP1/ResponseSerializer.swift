package import HTTPTypes

/// How the end of a response's body is found.
package enum ResponseFraming: Sendable, Equatable {
  /// There is none and never could be: 1xx, 204, 304.
  case none
  case length(Int)
  case chunked
  /// HTTP/1.0: the end of the connection.
  case untilClose
}

/// Turns the head of a response into bytes.
///
/// Framing, `Connection`, `Date` and `X-Content-Type-Options` are the server's to write: fields of
/// these names that a handler set are dropped, but for its `Date`. A field cannot end its line
/// early: `HTTPField` replaces CR, LF and NUL in values by spaces.
package enum ResponseSerializer {
  /// Appends a status line and a header section.
  ///
  /// O(bytes).
  ///
  /// - Parameters:
  ///   - status: Of which the reason phrase is sent too.
  ///   - fields: The handler's fields, in order.
  ///   - framing: How the body is delimited.
  ///   - connection: The `Connection` option to send, if any.
  ///   - date: An IMF-fixdate, made once a second by the caller.
  ///   - output: Receives the bytes.
  package static func append(
    status: HTTPResponse.Status, fields: HTTPFields, framing: ResponseFraming,
    connection: StaticString?, date: [UInt8], to output: inout [UInt8]
  ) {
    append("HTTP/1.1 ", to: &output)
    appendDecimal(status.code, to: &output)
    output.append(.space)
    appendText(status.reasonPhrase, to: &output)
    appendLineEnd(to: &output)
    let isNotModified = status.code == 304
    var hasDate = false
    for field in fields {
      switch KnownNames.written(field.name) {
      case .ours: continue
      case .date: hasDate = true
      // RFC 9110 §15.4.5: the client knows what it has.
      case .other where isNotModified && KnownNames.isOfContent(field.name): continue
      case .other: break
      }
      appendText(field.name.rawName, to: &output)
      append(": ", to: &output)
      field.withUnsafeBytesOfValue { output.append(contentsOf: $0) }
      appendLineEnd(to: &output)
    }
    // What a browser takes an answer for by its bytes, it could run as something else
    // (https://fetch.spec.whatwg.org/#x-content-type-options-header).
    if hasDate {
      append("X-Content-Type-Options: nosniff\r\n", to: &output)
    } else {
      append("X-Content-Type-Options: nosniff\r\nDate: ", to: &output)
      output.append(contentsOf: date)
      appendLineEnd(to: &output)
    }
    append(framing, to: &output)
    if let connection {
      append("Connection: ", to: &output)
      append(connection, to: &output)
      appendLineEnd(to: &output)
    }
    appendLineEnd(to: &output)
  }

  private static func append(_ framing: ResponseFraming, to output: inout [UInt8]) {
    switch framing {
    case .none, .untilClose: break
    case .chunked: append("Transfer-Encoding: chunked\r\n", to: &output)
    case .length(let length):
      append("Content-Length: ", to: &output)
      appendDecimal(length, to: &output)
      appendLineEnd(to: &output)
    }
  }

  private static func append(_ text: StaticString, to output: inout [UInt8]) {
    text.withUTF8Buffer { output.append(contentsOf: $0) }
  }

  private static func appendText(_ text: String, to output: inout [UInt8]) {
    var text = text
    text.withUTF8 { output.append(contentsOf: $0) }
  }

  private static func appendLineEnd(to output: inout [UInt8]) {
    output.append(.carriageReturn)
    output.append(.lineFeed)
  }

  private static func appendDecimal(_ number: Int, to output: inout [UInt8]) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      output.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}
