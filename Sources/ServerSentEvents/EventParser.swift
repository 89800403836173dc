/// Why an event stream cannot be read on.
package enum EventParserError: Error, Sendable, Equatable {
  /// An event, or a line, is longer than the parser was told to keep.
  case eventTooLarge(limit: Int)
}

/// Reads an event stream from bytes that arrive in any division (WHATWG HTML §9.2.5 and §9.2.6).
///
/// What it gives depends on the bytes alone, not on how they were divided. An event that the
/// stream breaks off in is never dispatched, and its id is not remembered.
///
/// Memory: the event under way and the line under way, together at most `maximumEventSize` bytes.
/// Time: O(n) in the bytes.
package struct EventParser: Sendable {
  /// The id to send as `Last-Event-ID` when connecting again.
  package private(set) var lastEventID: String

  /// How long the server asked clients to wait before they connect again, in milliseconds.
  package private(set) var reconnectionTime: UInt?

  /// How often it did: a server that ends its streams says it once more.
  package private(set) var numberOfRetries = 0

  /// Whether the rest of an event is to come.
  package var isWithinEvent: Bool { !line.isEmpty || !data.isEmpty || !type.isEmpty }

  private let maximumEventSize: Int
  private var failure: EventParserError?
  /// How many bytes of a byte order mark the stream began with; 3: no more are expected.
  private var markLength = 0
  /// The line under way, where earlier bytes brought a part of it.
  private var line: [UInt8] = []
  /// The last byte was a CR: an LF now belongs to it.
  private var ignoresLineFeed = false
  /// Each data line so far, with an LF after it.
  private var data: [UInt8] = []
  private var type: [UInt8] = []
  private var id: String

  /// - Parameters:
  ///   - lastEventID: what an earlier stream of the same source had come to.
  ///   - maximumEventSize: in bytes. A snapshot is one event; 256 MiB hold some two million
  ///     records. Passing it is an error that ends the stream.
  package init(lastEventID: String = "", maximumEventSize: Int = 256 << 20) {
    self.lastEventID = lastEventID
    self.maximumEventSize = maximumEventSize
    id = lastEventID
  }

  /// Reads on, and calls `dispatch` for each event that is complete.
  ///
  /// - throws: the same error each time from the first on; events before it are dispatched.
  package mutating func parse(
    _ bytes: some Collection<UInt8>, _ dispatch: (ServerSentEvent) -> Void
  ) throws(EventParserError) {
    if failure == nil {
      let isParsed: Void? = bytes.withContiguousStorageIfAvailable {
        parse(UnsafeRawBufferPointer($0), dispatch)
      }
      if isParsed == nil { Array(bytes).withUnsafeBytes { parse($0, dispatch) } }
    }
    if let failure { throw failure }
  }

  private mutating func parse(
    _ bytes: UnsafeRawBufferPointer, _ dispatch: (ServerSentEvent) -> Void
  ) {
    var position = skipByteOrderMark(bytes)
    while position < bytes.count {
      if ignoresLineFeed {
        ignoresLineFeed = false
        if bytes[position] == LineEnd.lineFeed {
          position += 1
          continue
        }
      }
      let end = LineEnd.first(in: bytes, from: position)
      let part = UnsafeRawBufferPointer(rebasing: bytes[position..<(end ?? bytes.count)])
      guard line.count + part.count + data.count + type.count <= maximumEventSize else {
        failure = .eventTooLarge(limit: maximumEventSize)
        return
      }
      guard let end else {
        line += part
        return
      }
      endLine(part, dispatch)
      ignoresLineFeed = bytes[end] == LineEnd.carriageReturn
      position = end + 1
    }
  }

  /// One U+FEFF at the start is not part of the first line.
  private mutating func skipByteOrderMark(_ bytes: UnsafeRawBufferPointer) -> Int {
    var position = 0
    while markLength < Self.byteOrderMark.count, position < bytes.count {
      guard bytes[position] == Self.byteOrderMark[markLength] else {
        line += Self.byteOrderMark[..<markLength]
        markLength = Self.byteOrderMark.count
        break
      }
      markLength += 1
      position += 1
    }
    return position
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The line under way ends with `part`.
  private mutating func endLine(
    _ part: UnsafeRawBufferPointer, _ dispatch: (ServerSentEvent) -> Void
  ) {
    if line.isEmpty { return interpret(part, dispatch) }
    var whole: [UInt8] = []
    swap(&whole, &line)
    whole += part
    whole.withUnsafeBytes { interpret($0, dispatch) }
    whole.removeAll(keepingCapacity: true)
    swap(&whole, &line)
  }

  /// §9.2.6, "process the field" for one line.
  private mutating func interpret(
    _ line: UnsafeRawBufferPointer, _ dispatch: (ServerSentEvent) -> Void
  ) {
    if line.isEmpty { return endEvent(dispatch) }
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    let name = line[..<(colon ?? line.count)]
    var value = line[(colon.map { $0 + 1 } ?? line.count)...]
    if value.first == UInt8(ascii: " ") { value.removeFirst() }
    // A comment has an empty name. Names are compared as they are, case and all.
    if name.elementsEqual("data".utf8) {
      data += value
      data.append(LineEnd.lineFeed)
    } else if name.elementsEqual("event".utf8) {
      type = Array(value)
    } else if name.elementsEqual("id".utf8) {
      if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    } else if name.elementsEqual("retry".utf8) {
      if value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let time = UInt(String(decoding: value, as: UTF8.self))
      {
        reconnectionTime = time
        numberOfRetries += 1
      }
    }
  }

  /// §9.2.6, "dispatch the event".
  private mutating func endEvent(_ dispatch: (ServerSentEvent) -> Void) {
    lastEventID = id
    defer {
      data.removeAll(keepingCapacity: true)
      type.removeAll(keepingCapacity: true)
    }
    guard !data.isEmpty else { return }
    dispatch(
      ServerSentEvent(
        type: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self),
        data: String(decoding: data.dropLast(), as: UTF8.self), lastEventID: id))
  }
}
