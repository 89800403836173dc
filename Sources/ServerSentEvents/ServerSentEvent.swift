/// An event as a client gets to see it.
package struct ServerSentEvent: Sendable, Equatable {
  /// `message` where the stream names none.
  package var type = "message"
  /// Its lines joined with LF.
  package var data: String
  /// The last id that the stream gave, with this event or before; empty: none.
  package var lastEventID = ""

  package init(type: String = "message", data: String, lastEventID: String = "") {
    self.type = type
    self.data = data
    self.lastEventID = lastEventID
  }
}
