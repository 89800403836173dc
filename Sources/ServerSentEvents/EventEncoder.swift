/// Appends events to a buffer of bytes, in the format of WHATWG HTML §9.2.
///
/// Fields are appended one by one, and ``endEvent()`` ends the event. Nothing is allocated but the
/// buffer, which may be kept between events. Lines end in LF; whatever is appended, it cannot end
/// an event or forge a field.
package struct EventEncoder: Sendable {
  /// All that was appended since the last ``removeAll()``.
  package private(set) var bytes: [UInt8] = []

  package init(reservingCapacity capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  /// Forgets what was appended, and keeps the memory.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// A whole event, in time O(n) of the bytes of its data.
  package mutating func append(
    type: EventType? = nil, id: EventID? = nil, data: some Collection<UInt8>
  ) {
    if let type { append(type: type) }
    if let id { append(id: id) }
    append(data: data)
    endEvent()
  }

  package mutating func append(type: EventType) { bytes += type.line }

  package mutating func append(id: EventID) { bytes += id.line }

  /// Data, one `data:` line for each of its lines.
  ///
  /// CR, LF and CRLF all end a line, and the parser gives all of them back as LF. Repeated data
  /// of one event is joined with LF.
  package mutating func append(data: some Collection<UInt8>) {
    append(data, prefix: Self.data)
  }

  /// Data that is written right into the buffer: no copy, unless it has line ends.
  ///
  /// - Parameter write: appends to the buffer that it is given, and does nothing else to it.
  package mutating func append(data write: (inout [UInt8]) throws -> Void) rethrows {
    bytes += Self.data
    let start = bytes.count
    try write(&bytes)
    if bytes.withUnsafeBytes({ LineScanner.lineEnd(in: $0, from: start) }) == nil {
      bytes.append(LineScanner.lineFeed)
    } else {
      let written = Array(bytes[start...])
      bytes.removeSubrange((start - Self.data.count)...)
      append(data: written)
    }
  }

  /// How long the client waits before it connects again, in milliseconds.
  package mutating func append(retry milliseconds: UInt) {
    bytes += "retry: \(milliseconds)\n".utf8
  }

  /// A comment, which clients ignore: fit for a heartbeat.
  package mutating func append(comment: String) {
    append(comment.utf8, prefix: Self.comment)
  }

  /// The empty line that makes the client dispatch the fields before it.
  ///
  /// Without a `data:` line it dispatches nothing, but remembers the id.
  package mutating func endEvent() { bytes.append(LineScanner.lineFeed) }

  private static let data = Array("data: ".utf8)
  // With the space, so that no text makes it look like anything else to a reader.
  private static let comment = Array(": ".utf8)

  /// The lines of a text, each with a prefix; an empty text is one empty line.
  private mutating func append(_ text: some Collection<UInt8>, prefix: [UInt8]) {
    let isAppended: Void? = text.withContiguousStorageIfAvailable {
      append(UnsafeRawBufferPointer($0), prefix: prefix)
    }
    if isAppended == nil {
      Array(text).withUnsafeBytes { append($0, prefix: prefix) }
    }
  }

  private mutating func append(_ text: UnsafeRawBufferPointer, prefix: [UInt8]) {
    var start = 0
    while true {
      let end = LineScanner.lineEnd(in: text, from: start)
      bytes += prefix
      bytes += UnsafeRawBufferPointer(rebasing: text[start..<(end ?? text.count)])
      bytes.append(LineScanner.lineFeed)
      guard let end else { return }
      start = end + 1
      if text[end] == LineScanner.carriageReturn, start < text.count,
        text[start] == LineScanner.lineFeed
      {
        start += 1
      }
    }
  }
}
