import Testing

@testable import ServerSentEvents

/// All that a parser makes of a stream.
struct Reading: Equatable {
  var events: [ServerSentEvent] = []
  var lastEventID = ""
  var reconnectionTime: UInt?
  var failure: EventParserError?

  init(_ chunks: some Sequence<ArraySlice<UInt8>>, maximumEventSize: Int = 1 << 20) {
    var parser = EventParser(maximumEventSize: maximumEventSize)
    do throws(EventParserError) {
      for chunk in chunks { try parser.parse(chunk) { events.append($0) } }
    } catch {
      failure = error
    }
    lastEventID = parser.lastEventID
    reconnectionTime = parser.reconnectionTime
  }

  /// The stream read in one piece, after checking that every other way to divide it reads the
  /// same: byte by byte, and with bytes of the next line coming along.
  init(
    everyWay bytes: [UInt8], maximumEventSize: Int = 1 << 20,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    self.init([bytes[...]], maximumEventSize: maximumEventSize)
    let byteByByte = Reading(
      bytes.indices.map { bytes[$0...$0] }, maximumEventSize: maximumEventSize)
    #expect(byteByByte == self, "byte by byte", sourceLocation: sourceLocation)
    let withTrailing = Reading(
      [bytes + Array("\ndata: unfinished".utf8)].map { $0[...] },
      maximumEventSize: maximumEventSize + 64)
    #expect(
      withTrailing.events.starts(with: events), "trailing bytes", sourceLocation: sourceLocation)
  }

  init(
    _ text: String, maximumEventSize: Int = 1 << 20,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    self.init(
      everyWay: Array(text.utf8), maximumEventSize: maximumEventSize,
      sourceLocation: sourceLocation)
  }
}
