/// The wal-index header: 48 bytes in the machine's byte order that name one state of the log
/// (https://www.sqlite.org/walformat.html#the_wal_index_header).
///
/// Machines are little-endian here, as all are that Swift runs on.
struct WALIndexHeader: Equatable {
  static let size = 48
  private static let version: UInt32 = 3_007_000

  private let version: UInt32
  private let unused: UInt32
  /// Grows by one with each commit; begins at 0 again when the index had to be rebuilt.
  private(set) var change: UInt32
  /// Two bytes of flags, and the page size in the upper half.
  private let flags: UInt32
  /// The last frame of the last commit; 0: the log is empty.
  private(set) var maxFrame: UInt32
  /// Pages in the database; 0 where the log is empty and never was anything else.
  private(set) var pageCount: UInt32
  /// Over all frames up to the last commit, and so over what they hold.
  let frameChecksum: (UInt32, UInt32)
  /// Given anew each time the log begins anew; the bytes are those in the log file.
  let salts: UInt64
  private let checksum: (UInt32, UInt32)

  /// Copies a header out of memory that others write.
  init(_ base: UnsafeRawPointer) {
    // The caller vouches for 48 bytes, aligned to 8.
    func word(_ index: Int) -> UInt32 { base.load(fromByteOffset: 4 * index, as: UInt32.self) }
    version = word(0)
    unused = word(1)
    change = word(2)
    flags = word(3)
    maxFrame = word(4)
    pageCount = word(5)
    frameChecksum = (word(6), word(7))
    salts = base.load(fromByteOffset: 32, as: UInt64.self)
    checksum = (word(10), word(11))
  }

  /// The same log as it was some commits ago.
  func cut(after frame: UInt32, pageCount: UInt32, commits: UInt32) -> WALIndexHeader {
    var earlier = self
    (earlier.maxFrame, earlier.pageCount) = (frame, pageCount)
    earlier.change = change &- commits
    return earlier
  }

  /// Where the log has no frames: how many commits there were. A replica that is fed from elsewhere
  /// (LiteFS) writes pages into the database file, and counts in the header of an empty log.
  var inPlaceChange: UInt32 { maxFrame == 0 ? change : 0 }

  /// 0 where the log is empty and never was anything else.
  var pageSize: Int {
    let size = Int(flags >> 16)
    return size == 1 ? 65_536 : size
  }

  /// Whether it is initialised, of the known version, and whole.
  var isValid: Bool {
    guard version == Self.version, flags & 0xff != 0 else { return false }
    var sum: (UInt32, UInt32) = (0, 0)
    func add(_ a: UInt32, _ b: UInt32) {
      sum.0 = sum.0 &+ a &+ sum.1
      sum.1 = sum.1 &+ b &+ sum.0
    }
    add(version, unused)
    add(change, flags)
    add(maxFrame, pageCount)
    add(frameChecksum.0, frameChecksum.1)
    add(UInt32(truncatingIfNeeded: salts), UInt32(truncatingIfNeeded: salts >> 32))
    return sum == checksum
  }

  static func == (a: Self, b: Self) -> Bool {
    a.version == b.version && a.unused == b.unused && a.change == b.change && a.flags == b.flags
      && a.maxFrame == b.maxFrame && a.pageCount == b.pageCount
      && a.frameChecksum == b.frameChecksum && a.salts == b.salts && a.checksum == b.checksum
  }
}
