import Dispatch
import HTTPServer
import HTTPTypes

/// `GET /v1/selftest`: a short stream of small events at known times.
///
/// Who reads it sees whether something on the way keeps bytes back: ticks that come together were
/// held. Each tick is smaller than any buffer that a proxy would fill before it passes bytes on.
enum SelfTest {
  /// Enough to tell a hold from a hiccup, in a second.
  static let ticks = 8
  static let interval = 125

  private static let queue = DispatchQueue(label: "didchange.selftest")

  static func stream(_ request: Request, _ responder: Responder) {
    do {
      try QueryItems(request.query).refuseParameters()
    } catch {
      return responder.respond(RecordsService.response(to: error))
    }
    let broadcast = Broadcast(capacity: 16 * 1024)
    let first = """
      : \(ticks) ticks, \(interval) ms apart. If they come all at once, something between you and \
      the server buffers.


      """
    let body = StreamBody(prefix: nil, broadcast: broadcast, position: broadcast.end)
    broadcast.append(Array(first.utf8))
    // Nobody would see the ticks of a head.
    for number in 1...ticks where !request.isHead {
      let after = (number - 1) * interval
      queue.asyncAfter(deadline: .now() + .milliseconds(after)) {
        broadcast.append(
          Array(
            "event: tick\ndata: {\"number\":\(number),\"of\":\(ticks),\"after\":\(after)}\n\n".utf8)
        )
        if number == ticks { broadcast.close() }
      }
    }
    responder.respond(Response(events: body))
  }
}
