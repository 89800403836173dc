/// Something that an event loop watches: a connection, or a listening socket.
protocol LoopMember: AnyObject {
  /// The descriptor is ready.
  func becameReady(_ readiness: Readiness)
  /// A time that was scheduled has come, or another before it.
  func timePassed()
  /// The server stops.
  func drain()
  /// The server does not wait any longer.
  func abort()
}
