import Locks

/// The bytes that the process holds for what it shows: records, indexes, events, answers.
///
/// Counted where they are allocated and where they go, so that what several states share counts
/// once, and nothing has to be estimated from above. One number for the process, as its memory is.
/// What is small, or soon gone, is not counted: a budget leaves room for that.
package enum HeldMemory {
  private static let count = Atomic<Int>(0)
  private static let countOfAids = Atomic<Int>(0)

  /// From any thread. O(1).
  package static var bytes: Int { count.load(ordering: .relaxed) }

  /// Those of them that are held of aids, which only make changes cheaper. From any thread. O(1).
  package static var bytesOfAids: Int { countOfAids.load(ordering: .relaxed) }

  /// So many more are held; fewer, where it is negative. O(1), one atomic addition.
  package static func add(_ bytes: Int) { count.wrappingAdd(bytes, ordering: .relaxed) }

  /// The same of an aid.
  static func add(ofAid bytes: Int) {
    add(bytes)
    countOfAids.wrappingAdd(bytes, ordering: .relaxed)
  }
}
