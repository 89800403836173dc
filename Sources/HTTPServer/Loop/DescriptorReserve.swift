/// The last descriptors that the process may have, which clients do not get: the database, its
/// readers, files that are sent, and accepting itself need some at any time.
struct DescriptorReserve {
  /// At most so many; a quarter where there are few in all.
  private static let most: Int32 = 32

  /// The lowest number of the reserve.
  ///
  /// A new descriptor is the lowest that is free (POSIX, "File Descriptor Allocation"), so a number
  /// says how many are left, and nobody has to count what other parts of the program have open.
  private let first: Int32

  init(limit: Int32 = SystemCalls.descriptorLimit) { first = limit - min(Self.most, limit / 4) }

  func contains(_ descriptor: Int32) -> Bool { descriptor >= first }

  /// Whether nothing else is left. Two system calls, with any descriptor that is open.
  func isAllThatIsLeft(beside descriptor: Int32) -> Bool {
    SystemCalls.lowestFree(copying: descriptor).map(contains) ?? true
  }
}
