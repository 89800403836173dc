/// Which pages the log has got since a reader's last look.
///
/// The log is a list of frames, each an image of one page, and only ever grows at its end, until a
/// checkpoint has copied all of it to the database file and no reader needs it: then the next
/// writer begins it anew, with new salts (https://www.sqlite.org/walformat.html).
///
/// - While the salts are the same, what is new is the frames from the old `maxFrame` to the new
///   one. The index lists their pages; the log need not be parsed.
/// - When they differ, all frames of the new log are new, but the old log may have grown before it
///   ended.
///
/// In both cases the header counts commits: nothing was lost exactly if it has counted as many as
/// the new frames hold. More than they hold are also counted where pages are written into the
/// database file itself, as LiteFS feeds a replica. A page that was lost so is found by comparing
/// all (ChangeReader+Rebuild.swift).
struct WALReader {
  private let files: DatabaseFiles
  private let buffers: PageBuffers
  var index: WALIndex

  init(_ files: DatabaseFiles, buffers: PageBuffers) {
    self.files = files
    self.buffers = buffers
    index = WALIndex(files)
  }

  /// The index's header; nil: it was not whole however often it was read.
  mutating func header() throws(CaptureDoubt) -> WALIndexHeader? {
    // A writer needs some nanoseconds to write it; one that was killed in them leaves it so until
    // the next transaction begins.
    for _ in 0..<100 {
      if let header = try index.header() { return header }
    }
    return nil
  }

  /// Collects the pages of the frames between two states of the log. O(f), f those frames.
  ///
  /// - returns: false where commits were lost.
  mutating func collect(
    from old: WALIndexHeader, to new: WALIndexHeader, into changed: inout ChangedPages
  ) throws(CaptureDoubt) -> Bool {
    var first: UInt32 = 1
    if new.salts == old.salts {
      guard new.maxFrame >= old.maxFrame else { return false }
      first = old.maxFrame + 1
    }
    do {
      guard try areAll(new.change &- old.change, in: new, from: first) else { return false }
    } catch {
      // A log that has ended meanwhile may be cut off.
      if try index.isSameLog(as: new) { throw error }
      return false
    }
    if first <= new.maxFrame {
      for frame in first...new.maxFrame {
        changed.append(page: try index.page(ofFrame: frame), frame: frame)
      }
    }
    changed.finish()
    return try index.isSameLog(as: new)
  }

  /// Whether so many commits are all in the frames from `first` on.
  ///
  /// A log that has frames only grows; there it is enough that there are as many frames as commits.
  /// An empty one may have been passed over, by an end of the log before or by pages written in
  /// place: there the commits are counted. O(f) reads, unless there is one, with which the frames end.
  private mutating func areAll(
    _ count: UInt32, in new: WALIndexHeader, from first: UInt32
  ) throws(CaptureDoubt) -> Bool {
    if first > 1 { return count <= new.maxFrame + 1 - first }
    if count == 1, new.maxFrame > 0 { return true }
    return try commits(in: new) == count
  }

  /// The state in which a log was begun: as long as it has no frames, all pages are in the file.
  mutating func beginning(of header: WALIndexHeader) throws(CaptureDoubt) -> WALIndexHeader {
    header.cut(after: 0, pageCount: 0, commits: try commits(in: header))
  }

  /// The states of the log after each of the commits between two of its states, without the last.
  mutating func commits(
    after old: WALIndexHeader, upTo new: WALIndexHeader
  ) throws(CaptureDoubt) -> [WALIndexHeader] {
    guard old.maxFrame < new.maxFrame else { return [] }
    var ends: [(frame: UInt32, pageCount: UInt32)] = []
    // Within the buffer.
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers.frame[..<FrameHeader.size])
    for frame in (old.maxFrame + 1)..<new.maxFrame {
      let offset = FrameHeader.offset(frame, pageSize: new.pageSize)
      guard try files.read(.log, at: offset, into: buffer) else { throw .unreadablePage }
      let found = FrameHeader(UnsafeRawBufferPointer(buffer))
      guard found.belongs(to: new) else { throw .unreadablePage }
      if found.isCommit { ends.append((frame, found.pageCount)) }
    }
    guard try index.isSameLog(as: new) else { throw .snapshotUnknown }
    // The last state is `new` itself.
    return ends.enumerated().map { offset, end in
      new.cut(
        after: end.frame, pageCount: end.pageCount,
        commits: UInt32(truncatingIfNeeded: ends.count - offset))
    }
  }

  /// How many commits the frames of a log hold, or fewer where it is not certain. O(f) reads.
  ///
  /// A writer that does not trust its disk's sectors (`psow=0`) fills them up after a commit by
  /// repeating its last frame (https://www.sqlite.org/psow.html): a commit of the same page with
  /// the same content is not counted.
  private mutating func commits(in header: WALIndexHeader) throws(CaptureDoubt) -> UInt32 {
    guard header.maxFrame > 0 else { return 0 }
    let size = FrameHeader.size + header.pageSize
    guard header.pageSize >= 512, size <= buffers.frame.count, size <= buffers.run.count else {
      throw .unknownLog
    }
    // Both buffers have room for `size` bytes.
    let bytes = UnsafeMutableRawBufferPointer(rebasing: buffers.frame[..<size])
    let start = UnsafeMutableRawBufferPointer(rebasing: bytes[..<FrameHeader.size])
    let before = UnsafeMutableRawBufferPointer(rebasing: buffers.run[..<size])
    var count: UInt32 = 0
    var previous: UInt32 = 0
    for frame in 1...header.maxFrame {
      let offset = FrameHeader.offset(frame, pageSize: header.pageSize)
      guard try files.read(.log, at: offset, into: start) else { throw .unreadablePage }
      let found = FrameHeader(UnsafeRawBufferPointer(start))
      // Begun anew once more, or cut off: not to be told apart from a loss.
      guard found.belongs(to: header) else { return count }
      if found.isCommit, found.page == previous {
        // Compares the images and the sizes, not the checksums behind.
        try files.read(.log, at: offset, into: bytes)
        try files.read(.log, at: offset - Int64(size), into: before)
        let isSame =
          bytes[..<8].elementsEqual(before[..<8])
          && bytes[FrameHeader.size...].elementsEqual(before[FrameHeader.size...])
        if !isSame { count += 1 }
      } else if found.isCommit {
        count += 1
      }
      previous = found.isCommit ? found.page : 0
    }
    return count
  }
}
