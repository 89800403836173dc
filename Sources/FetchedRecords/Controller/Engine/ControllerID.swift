import Synchronization

/// Names one controller for its engine; never given twice.
struct ControllerID: Hashable, Sendable {
  private static let last = Atomic<Int>(0)

  private let number = Self.last.add(1, ordering: .relaxed).newValue
}
