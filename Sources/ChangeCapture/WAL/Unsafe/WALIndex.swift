/// The shared wal-index: which page each frame of the log holds.
///
/// The file beside the database that ends in -shm, mapped by SQLite, in regions of 32 KiB
/// (https://www.sqlite.org/walformat.html#the_wal_index_file_format). The first begins with two
/// copies of the header and 40 bytes about checkpoints and locks. Then in each region: page numbers
/// of 4096 frames in order (of 4062 in the first region, where the header takes 34 places), and a
/// hash table of 8192 slots of two bytes: 0, or one more than a place in that list.
///
/// Frames up to the `maxFrame` of a header that was valid do not change while its log lasts. It
/// ends when a writer begins the log anew, which first gives the header new salts: so whatever was
/// read is right if the salts are still the same *after* it was read.
struct WALIndex {
  static let regionSize = 32_768
  private static let headerSize = 136
  private static let framesInRegion = 4096
  private static let framesInFirstRegion = framesInRegion - headerSize / 4
  private static let slots = 8192
  private static let slotsOffset = framesInRegion * 4

  private let files: DatabaseFiles
  // Mapped by SQLite, `regionSize` bytes each, for as long as the connection has the log open,
  // which covers its use. Other processes write to them at any time: values are read once and
  // checked.
  private var regions: [UnsafeRawPointer] = []

  init(_ files: DatabaseFiles) { self.files = files }

  private mutating func region(_ number: Int) throws(CaptureDoubt) -> UnsafeRawPointer {
    while regions.count <= number {
      guard let next = files.indexRegion(regions.count, size: Self.regionSize) else {
        throw .unknownLog
      }
      regions.append(next)
    }
    return regions[number]
  }

  /// The header; nil: a writer is just writing it, or it is not valid.
  mutating func header() throws(CaptureDoubt) -> WALIndexHeader? {
    let base = try region(0)
    // A writer writes the second copy first (https://www.sqlite.org/walformat.html).
    let first = WALIndexHeader(base)
    files.indexBarrier()
    let second = WALIndexHeader(base + WALIndexHeader.size)
    return first == second && first.isValid ? first : nil
  }

  /// How far checkpoints have come.
  mutating func checkpointProgress() throws(CaptureDoubt) -> CheckpointProgress {
    // `nBackfill` and `nBackfillAttempted`, at their places behind the two headers
    // (https://www.sqlite.org/walformat.html#the_wal_index_header).
    let base = try region(0)
    files.indexBarrier()
    return CheckpointProgress(
      copied: base.load(fromByteOffset: 96, as: UInt32.self),
      attempted: base.load(fromByteOffset: 128, as: UInt32.self))
  }

  /// Whether the log is still the one that `header` describes.
  mutating func isSameLog(as header: WALIndexHeader) throws(CaptureDoubt) -> Bool {
    files.indexBarrier()
    return WALIndexHeader(try region(0)).salts == header.salts
  }

  /// The page that a frame holds; frames count from 1.
  mutating func page(ofFrame frame: UInt32) throws(CaptureDoubt) -> UInt32 {
    let index = Int(frame) - 1
    guard index >= Self.framesInFirstRegion else {
      // Below headerSize + 4 × 4062 bytes.
      return try region(0).load(fromByteOffset: Self.headerSize + 4 * index, as: UInt32.self)
    }
    let later = index - Self.framesInFirstRegion
    // The place is below 4096.
    return try region(1 + later / Self.framesInRegion)
      .load(fromByteOffset: 4 * (later % Self.framesInRegion), as: UInt32.self)
  }

  /// The last frame up to `limit` that holds a page; 0: none does.
  mutating func frame(ofPage page: UInt32, upTo limit: UInt32) throws(CaptureDoubt) -> UInt32 {
    guard limit > 0 else { return 0 }
    var number =
      Int(limit) <= Self.framesInFirstRegion
      ? 0 : 1 + (Int(limit) - Self.framesInFirstRegion - 1) / Self.framesInRegion
    while number >= 0 {
      let found = try frame(ofPage: page, upTo: limit, inRegion: number)
      if found != 0 { return found }
      number -= 1
    }
    return 0
  }

  private mutating func frame(
    ofPage page: UInt32, upTo limit: UInt32, inRegion number: Int
  ) throws(CaptureDoubt) -> UInt32 {
    let base = try region(number)
    let isFirst = number == 0
    let capacity = isFirst ? Self.framesInFirstRegion : Self.framesInRegion
    let pages = base + (isFirst ? Self.headerSize : 0)
    let before =
      isFirst ? 0 : Self.framesInFirstRegion + (number - 1) * Self.framesInRegion
    var slot = Int(truncatingIfNeeded: page &* 383) & (Self.slots - 1)
    var found: UInt32 = 0
    for _ in 0..<Self.slots {
      // `slot` is below 8192, so the load ends within the region.
      let place = Int(base.load(fromByteOffset: Self.slotsOffset + 2 * slot, as: UInt16.self))
      if place == 0 { return found }
      guard place <= capacity else { throw .unknownLog }
      // `place` - 1 is below the region's capacity.
      if before + place <= Int(limit),
        pages.load(fromByteOffset: 4 * (place - 1), as: UInt32.self) == page
      {
        // Later frames have later places.
        found = max(found, UInt32(before + place))
      }
      slot = (slot + 1) & (Self.slots - 1)
    }
    throw .unknownLog
  }
}
