import Foundation

/// The thread that waits for notifications and for the time of the next look, and does the work
/// within the owner's queue.
///
/// A dispatch source would wake a thread of its own, which wakes one for the queue; each of these
/// costs more than a look. This thread is the queue's for as long as a turn takes, whenever nobody
/// else is.
enum WatchThread {
  /// What to do after a turn.
  enum Wait: Equatable {
    /// So soon that only the thread itself can wait for it; zero: once others have had the processor.
    case pause(Duration)
    /// A notification, or that time.
    case notification(until: ContinuousClock.Instant)
  }

  /// Begins to take turns of `core`, until there is no next.
  static func start(_ core: WatcherCore, waker: ThreadWaker) {
    let thread = Thread {
      Thread.nameCurrent("didchange.watch")
      OperatingSystem.keepPausesShort()
      while let (wait, afterwards) = core.takeTurn() {
        afterwards?()
        switch wait {
        case .pause(let duration): OperatingSystem.pause(duration)
        case .notification(let time):
          OperatingSystem.wait(for: [core.descriptor, waker.descriptor], until: time)
        }
      }
      waker.close()
    }
    thread.qualityOfService = .userInitiated
    thread.start()
  }
}

/// Ends the wait of a thread from another one: a pipe that becomes readable.
// Only the thread that waits closes it.
struct ThreadWaker: Sendable {
  let descriptor: Int32
  private let writer: Int32

  /// Without a descriptor to be had the thread wakes when the next poll is due.
  init() { (descriptor, writer) = OperatingSystem.pipe() ?? (-1, -1) }

  func wake() { OperatingSystem.writeByte(to: writer) }

  func close() {
    OperatingSystem.closeDescriptor(descriptor)
    OperatingSystem.closeDescriptor(writer)
  }
}
