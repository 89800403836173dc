import FetchedRecords
import HTTPServer
import HeldMemory

extension Refresher {
  /// Whether records of so many bytes may become an answer.
  ///
  /// Text is some two times as long as what it is made of: base64, names of columns, escapes.
  ///
  /// - Throws: `FetchFailure` as a ``Problem``, where there is no room for it.
  func checkRoom(forText bytes: Int) throws(Problem) {
    guard bytes > MemoryBudget.step, !memory.hasRoom(for: 2 * bytes) else { return }
    memory.makeRoomSoon(for: 2 * bytes)
    if memory.willHaveRoom(for: 2 * bytes) { return }
    memory.noteRefusal()
    throw Problem(.noMemory(limits))
  }
}
