import Locks

/// The digest of something that does not change, kept once it is known.
///
/// Two threads may find it out at the same time: they find the same. It is of the one key that its
/// records are ever asked for with.
struct KeptDigest: ~Copyable, Sendable {
  /// No element of the field; written last, read first.
  private static let unknown = UInt64.max

  private let first = Atomic(Self.unknown)
  private let second = Atomic<UInt64>(0)

  /// nil: nobody has found it out yet.
  @inline(__always)
  var known: RunDigest.Pair? {
    let known = first.load(ordering: .acquiring)
    return known == Self.unknown ? nil : (known, second.load(ordering: .relaxed))
  }

  @inline(__always)
  borrowing func keep(_ found: RunDigest.Pair) {
    second.store(found.1, ordering: .relaxed)
    first.store(found.0, ordering: .releasing)
  }
}
