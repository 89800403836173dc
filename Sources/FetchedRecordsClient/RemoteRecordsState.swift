/// Whether what is shown is what the server has.
public enum RemoteRecordsState: Sendable, Equatable {
  /// Nothing has come yet.
  case connecting
  /// What is shown is what the server has, which was heard from within two heartbeats (32 s, and less
  /// where the server's are closer).
  case live
  /// There are records, and no such connection.
  case stale
  /// By `close()`, for good; by the server, until other parameters, another order or another window
  /// are set.
  case closed
  /// After a 401 and without another token: for good. The records are gone.
  case signedOut
  /// After a 403: for good. The records are gone.
  case forbidden
}

/// How changes come.
public enum RemoteRecordsTransport: Sendable, Equatable {
  case stream
  /// Something on the way holds streams back or cuts them, as a test of the connection has shown: the
  /// server is asked for changes again and again, and answers when there are any. Streams are tried
  /// again after ten minutes.
  case longPoll
}
