/// A stream's place in a fan-out.
///
/// Most streams wait for the log and for nothing else: these are parked, and what it takes to show
/// them the next unit is here. Ten thousand places lie one behind the other, so a walk touches none
/// of the connections, which lie all over memory. That is half a microsecond for each beside the
/// some 7 µs of its write, and as much again for what the write finds no longer in the caches.
// Guarded by the loop's queue.
struct FanOutEntry {
  let connection: Connection
  let descriptor: Int32
  private var isParked = false
  /// Where a parked stream is.
  private(set) var cursor = 0
  private var lastWrite = Moment(nanoseconds: 0)

  init(_ connection: Connection) {
    self.connection = connection
    descriptor = connection.descriptor
  }

  mutating func park(cursor: Int, lastWrite: Moment) {
    self.cursor = cursor
    self.lastWrite = lastWrite
    isParked = true
  }

  mutating func unpark() -> (cursor: Int, lastWrite: Moment) {
    isParked = false
    return (cursor, lastWrite)
  }

  /// Whether nothing is to be done but to send the log from a position on, or from later.
  func isParked(after position: Int) -> Bool { isParked && cursor >= position }

  mutating func hasTaken(to end: Int, at now: Moment) {
    cursor = end
    lastWrite = now
  }
}
