/// The pages of the snapshot that a connection's read transaction sees, read through SQLite's file
/// handles.
///
/// A page is where the last frame of it is that the snapshot covers, and else in the database file.
/// While a transaction holds a read mark above 0, neither can be overwritten. With mark 0 the
/// snapshot is the database file alone (all frames had been copied to it), nobody may write to that,
/// but a writer may begin the log anew under the reader's feet: so the log's salts are compared
/// after each read from it, and once they differ only the file is read.
/// (https://www.sqlite.org/walformat.html#wal_locks)
final class SnapshotPages: DatabasePages {
  private enum Store { case log, databaseOnly }

  private(set) var layout: FileHeader
  let pageCount: UInt32
  private let files: DatabaseFiles
  private let header: WALIndexHeader?
  private var index: WALIndex
  private var changed: ChangedPages
  private var store: Store
  /// Whether the transaction's snapshot is exactly the state that `header` names.
  private let isExact: Bool
  private let buffers: PageBuffers

  /// Makes no read but of the sizes where `fileHeader` is known.
  ///
  /// `header` says what the log holds (nil: the database has no log), `changed` which frames need
  /// not be looked for in the index.
  init(
    files: DatabaseFiles, index: WALIndex, header: WALIndexHeader?, isExact: Bool,
    changed: ChangedPages, fileHeader: FileHeader?, buffers: PageBuffers
  ) throws(CaptureDoubt) {
    self.files = files
    self.index = index
    self.header = header
    self.changed = changed
    self.isExact = isExact
    self.buffers = buffers
    store = (header?.maxFrame ?? 0) > 0 ? .log : .databaseOnly
    // The page size is needed to read page 1, which tells the page size.
    let inFile =
      if let fileHeader { fileHeader } else { try Self.fileHeader(files, buffers) }
    layout = inFile
    if let header, header.maxFrame > 0 {
      guard header.pageSize == inFile.pageSize else { throw .otherLayout }
      let bound = try files.databaseSize() / Int64(inFile.pageSize) + Int64(header.maxFrame)
      pageCount = UInt32(min(Int64(header.pageCount), bound))
    } else {
      let size = Int64(inFile.pageSize)
      pageCount = UInt32(clamping: (try files.databaseSize() + size - 1) / size)
    }
  }

  /// The beginning of the database file itself, whatever the log says.
  static func fileHeader(
    _ files: DatabaseFiles, _ buffers: PageBuffers
  ) throws(CaptureDoubt) -> FileHeader {
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers.frame[..<FileHeader.size])
    try files.read(.database, at: 0, into: buffer)
    return try FileHeader(PageImage(number: 1, bytes: UnsafeRawBufferPointer(buffer)))
  }

  /// Reads the header on page 1 of the snapshot.
  func updateLayout() throws(CaptureDoubt) {
    let header = try FileHeader(try page(1))
    guard header.hasSameLayout(as: layout) else { throw .otherLayout }
    layout = header
  }

  func page(_ number: UInt32) throws(CaptureDoubt) -> PageImage {
    guard number >= 1, number <= pageCount else { throw .malformedPage }
    if let image = try logPage(number) { return image }
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers.frame[..<layout.pageSize])
    try files.read(.database, at: Int64(number - 1) * Int64(layout.pageSize), into: buffer)
    return image(number, buffer)
  }

  /// The buffer begins with the page's `pageSize` bytes.
  private func image(_ number: UInt32, _ buffer: UnsafeMutableRawBufferPointer) -> PageImage {
    PageImage(number: number, bytes: UnsafeRawBufferPointer(rebasing: buffer[..<layout.usableSize]))
  }

  /// The page as the log has it; nil: it is in the database file.
  private func logPage(_ number: UInt32) throws(CaptureDoubt) -> PageImage? {
    guard store == .log, let header else { return nil }
    let known = changed.frame(ofPage: number)
    do {
      let frame =
        if let known { known } else {
          try index.frame(ofPage: number, upTo: header.maxFrame)
        }
      // An index of a new log may lack the page, too; an exact snapshot is the file's then.
      if frame == 0, isExact { return nil }
      let image = frame == 0 ? nil : try logPage(number, frame: frame, header)
      if try index.isSameLog(as: header) { return image }
    } catch {
      if try index.isSameLog(as: header) { throw error }
    }
    guard isExact else { throw .snapshotUnknown }
    store = .databaseOnly
    return nil
  }

  private func logPage(
    _ number: UInt32, frame: UInt32, _ header: WALIndexHeader
  ) throws(CaptureDoubt) -> PageImage {
    let size = FrameHeader.size + layout.pageSize
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers.frame[..<size])
    guard
      try files.read(.log, at: FrameHeader.offset(frame, pageSize: layout.pageSize), into: buffer)
    else { throw .unreadablePage }
    let found = FrameHeader(UnsafeRawBufferPointer(buffer))
    guard found.page == number, found.belongs(to: header) else { throw .unreadablePage }
    return image(number, UnsafeMutableRawBufferPointer(rebasing: buffer[FrameHeader.size...]))
  }

  /// Reads runs of neighbours from the database file at once, and what the log has over them.
  func forEachPage(
    _ numbers: [UInt32], _ body: (PageImage) throws(CaptureDoubt) -> Void
  ) throws(CaptureDoubt) {
    let pageSize = layout.pageSize
    let capacity = buffers.run.count / pageSize
    var start = 0
    while start < numbers.count {
      let first = numbers[start]
      guard first >= 1 else { throw .malformedPage }
      var end = start + 1
      while end < numbers.count, numbers[end] > numbers[end - 1],
        Int(numbers[end] - first) < capacity, numbers[end] - numbers[end - 1] <= 4
      { end += 1 }
      let count = Int(numbers[end - 1] - first) + 1
      // At most `capacity` pages, by the loop above.
      let run = UnsafeMutableRawBufferPointer(rebasing: buffers.run[..<(count * pageSize)])
      try files.read(.database, at: Int64(first - 1) * Int64(pageSize), into: run)
      for number in numbers[start..<end] {
        guard number <= pageCount else { throw .malformedPage }
        if let image = try logPage(number) {
          try body(image)
        } else {
          let offset = Int(number - first) * pageSize
          try body(
            image(
              number, UnsafeMutableRawBufferPointer(rebasing: run[offset..<(offset + pageSize)])))
        }
      }
      start = end
    }
  }
}
