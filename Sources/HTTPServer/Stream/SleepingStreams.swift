/// Streams of one loop for which a broadcast has new bytes, while their loop sleeps.
///
/// Whoever made the bytes says who shows them: the loop's thread, or the one that made them.
package struct SleepingStreams: Sendable {
  private let fanOut: FanOut

  init(_ fanOut: FanOut) { self.fanOut = fanOut }

  /// Wakes the loop.
  package func wake() { fanOut.wakeLoop() }

  /// Shows the first of them what there is on the calling thread. The others, whatever a stream needs
  /// beside the log, and a loop that is busy are left to the loop.
  ///
  /// Should the loop become busy just then, the thread waits for its turn to end, so it may hold
  /// nothing that a loop might wait for: no lock, and no queue.
  package func serveHere() { fanOut.serveHere() }
}
