package import HTTP1

/// What a server needs to know before it starts.
package struct ServerSettings: Sendable {
  /// A host name or address; `::` is everybody.
  ///
  /// Default: this machine only.
  package var host = "127.0.0.1"

  /// 0 picks a free one.
  package var port = 0

  /// The path of a Unix-domain socket to listen on instead.
  ///
  /// Who may connect is for the file system to say: the socket has the process's umask.
  package var unixSocketPath: String?

  /// Sockets to accept connections from instead, which somebody else keeps.
  package var inheritedSockets: [InheritedSocket] = []

  /// Event loops, each a serial queue.
  ///
  /// Default: one for each core.
  package var eventLoops = SystemCalls.processorCount

  /// How large a request may be.
  package var messageLimits = MessageLimits()

  /// How long things may take.
  package var timeouts = Timeouts()

  /// Connections in all; while there are more, none is accepted: they wait in the kernel's queue.
  ///
  /// Default 60 000: one source address has no more ports.
  package var maximumConnections = 60_000

  /// Connections of one address, or of one /64 of IPv6; one more is answered 503 and closed.
  ///
  /// Default 20 000, a third of all: no single client can take them all. Proxies are not counted,
  /// since everybody comes through them.
  package var maximumConnectionsPerAddress = 20_000

  /// Whose word on clients, schemes and prefixes is believed.
  ///
  /// Default: nobody's.
  package var trustedProxies: [AddressRange] = []

  /// Is told of each exchange when it is over.
  ///
  /// Default: nobody, and then nothing is kept of a request while it is answered.
  package var observer: ExchangeObserver?

  /// Requests of one connection that are answered at the same time; more wait unread.
  ///
  /// Default 16: browsers do not pipeline, and load tools send at most that many.
  package var maximumPipelinedRequests = 16

  package init() {}
}

/// How long a peer may take.
///
/// Each passes for its own connection only.
package struct Timeouts: Sendable, Equatable {
  /// From the first byte of a head (or, on a new connection, from its start) to the last; then 408.
  ///
  /// Default 10 s. It is not prolonged by each byte: that is what Slowloris lives on.
  package var head: Duration = .seconds(10)

  /// From the end of the head to the end of the body; then 408.
  ///
  /// Default 30 s: 1 MiB at 35 kB/s.
  package var body: Duration = .seconds(30)

  /// Between two requests; then the connection is closed.
  ///
  /// Default 75 s as nginx: longer than the minute for which load balancers keep connections, so
  /// that they are the ones who close.
  package var idle: Duration = .seconds(75)

  /// While there are bytes to send and the peer takes none; then the connection is closed.
  ///
  /// Default 60 s. It bounds how long a reader that is gone or stuck is remembered.
  package var write: Duration = .seconds(60)

  /// After the last response of a connection whose peer may still be sending.
  ///
  /// Default 2 s, see RFC 9112 §9.6: closing at once would reset the connection under the response.
  package var linger: Duration = .seconds(2)

  /// How late any of these may be.
  ///
  /// Default 50 ms: they are seconds long, nobody sees a tenth.
  package var lateness: Duration = .milliseconds(50)

  package init() {}
}
