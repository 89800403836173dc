/// What a stream is sent while nothing happens: `protocol.md` §4.
enum HeartbeatForm: String {
  /// Keeps what is on the way from closing the connection, and is seen by no program in a browser.
  case comment
  /// Told to programs too: one that misses it knows that its stream is dead. Without an id, since
  /// nothing has changed.
  case event

  var bytes: [UInt8] { self == .comment ? Self.commentBytes : Self.eventBytes }

  /// What says that a stream's beginning, behind which it stands, leads to the present: who resumes from
  /// another request, and is told nothing, learns so that both have the same records.
  var ofBeginning: [EventPieces] { self == .comment ? [] : [.bytes(bytes)] }

  // Made once: every stream has them.
  private static let commentBytes = Array(": heartbeat\n\n".utf8)
  private static let eventBytes = Array("event: heartbeat\ndata: {}\n\n".utf8)
}
