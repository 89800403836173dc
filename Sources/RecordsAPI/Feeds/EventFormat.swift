import HTTP1
import HTTPServer
import HTTPTypes
import Locks

/// The formats in which a stream can be sent.
enum EventFormat: String, CaseIterable {
  /// The WHATWG HTML standard's, §9.2: as the logs hold it.
  case serverSentEvents = "text/event-stream"
  /// A JSON object on each line: `protocol.md` §8.
  case newlineDelimited = "application/x-ndjson"

  /// What a request would rather have; of two that are as welcome, that of browsers.
  init(_ request: Request) {
    let ranges = MediaRanges(request.fields.value(of: .accept))
    let isWanted =
      ranges.quality(of: Self.newlineDelimited.rawValue)
      > ranges.quality(of: Self.serverSentEvents.rawValue)
    self = isWanted ? .newlineDelimited : .serverSentEvents
  }

  /// Makes one stream of it.
  var recoding: StreamBody.Recoding? {
    guard self == .newlineDelimited else { return nil }
    // A piece of a snapshot may end anywhere.
    let objects = Mutex(EventObjects(.lines))
    return { bytes in
      var lines: [UInt8] = []
      objects.withLock { $0.append(bytes, to: &lines) }
      return lines
    }
  }
}
