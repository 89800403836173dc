extension WatchConnection {
  /// The log that the connection has open, and what its index said at the last looks.
  // Kept and read outside of the connection's queue, and good until it closes: nobody else has the
  // connection, and as long as it is open the database stays in write-ahead mode, with the same
  // file handles and the same mapping.
  struct Log {
    private let files: DatabaseFiles
    private var index: WALIndex
    /// The header at the last look.
    private var last: WALIndexHeader?
    /// The header at the last look that also read the file.
    private var lastRead: WALIndexHeader?
    /// The log's file and the header when they were last held against each other.
    private var compared: (file: FileStatus, header: WALIndexHeader)?

    /// The database file and the header when the log's last page was last found in the file, or
    /// missed there and told.
    private var verified: (file: FileStatus, header: WALIndexHeader)?
    /// A file in which that page was missed: it is told when the file is left alone.
    private var doubted: FileStatus?

    init(_ files: DatabaseFiles) {
      self.files = files
      index = WALIndex(files)
      last = header()
    }

    /// The next look finds a commit.
    mutating func forgetHeader() { last = nil }

    /// The header now; nil: it is not one that can be relied on.
    mutating func header() -> WALIndexHeader? {
      do {
        // A writer takes some nanoseconds to write it.
        for _ in 0..<20 {
          if let found = try index.header() { return found }
        }
      } catch {
        // There is no shared memory to be had: the statement tells.
      }
      return nil
    }

    /// Whether the next look finds a commit, as far as the header tells.
    mutating func hasUnseenCommit() -> Bool { header().map { $0 != last } ?? false }

    /// What a look without a statement says that found a header.
    mutating func compare(_ found: WALIndexHeader) -> CommitDetector.Answer {
      defer { last = found }
      return found == last ? .unchanged : .changed
    }

    /// What a look says whose statement said `answer`, before which the header was `found`.
    mutating func compare(
      _ found: WALIndexHeader?, statement answer: CommitDetector.Answer
    ) -> CommitDetector.Answer {
      let isSameAsRead = found != nil && found == lastRead
      lastRead = found
      guard let found else {
        // A writer is held up in the middle of the header, and the statement has waited for it.
        if answer == .changed { last = header() }
        return answer
      }
      // What the statement calls a change the header has told, unless it is as it was at the last
      // statement: then an empty log may have the header of another after a recovery, or the commit
      // came since the header was read, and is not to be told again by the next one.
      let isNews = found == last && answer == .changed && isSameAsRead
      defer { last = isNews ? header() ?? found : found }
      return isNews || found != last ? .changed : .unchanged
    }

    /// nil: it cannot be told now.
    mutating func cause() -> UnexplainedWrites.Cause? {
      guard let header = header(), let progress = try? index.checkpointProgress() else {
        return nil
      }
      return .log(salts: header.salts, progress, inPlace: header.inPlaceChange)
    }

    /// Whether the log's file does not hold the last commit that the index names: it was cut off or
    /// written over. Whoever opens the database then fails, or reads something else, for as long as
    /// anybody keeps the index; the first who opens it after that makes it anew.
    ///
    /// Reads 25 bytes, where the file or the header is another one than at the last call.
    ///
    /// - Parameter file: as it was before; commits may have made it longer since.
    /// - Returns: false also where it cannot be told now.
    mutating func isForeign(_ file: FileStatus) -> Bool {
      guard let header = header(), header.maxFrame > 0 else { return false }
      if let compared, compared.file == file, compared.header == header { return false }
      guard let holds = holdsLastFrame(header), self.header() == header else { return false }
      compared = (file, header)
      return !holds
    }

    /// What the file holds is what the connection shows.
    mutating func trust(_ file: FileStatus) {
      verified = header().map { (file, $0) }
    }

    /// Whether the database file does not hold the last page of the log, though the whole log was
    /// copied into it: it was written over behind the checkpoint, and whoever opens the database now
    /// reads it instead of the log.
    ///
    /// Reads that page of both, where the file or the header is another one than at the last call.
    ///
    /// - Parameter file: as it was before.
    /// - Returns: false also where it cannot be told now, and until the file is left alone.
    mutating func isWrittenOver(_ file: FileStatus) -> Bool {
      guard let header = header(), isCopied(header) else { return false }
      if let verified, verified.file == file, verified.header == header { return false }
      guard let holds = holdsLastPage(header), isCopied(header), self.header() == header else {
        return false
      }
      if !holds, doubted != file {
        doubted = file
        return false
      }
      (verified, doubted) = ((file, header), nil)
      return !holds
    }

    /// Whether checkpoints have copied all of the log.
    private mutating func isCopied(_ header: WALIndexHeader) -> Bool {
      guard header.maxFrame > 0, let progress = try? index.checkpointProgress() else {
        return false
      }
      return !progress.isUnderWay && progress.copied == header.maxFrame
    }

    /// nil: the files cannot be read.
    private func holdsLastPage(_ header: WALIndexHeader) -> Bool? {
      let (start, size) = (
        FrameHeader.offset(header.maxFrame, pageSize: header.pageSize), header.pageSize
      )
      return withUnsafeTemporaryAllocation(
        byteCount: FrameHeader.size + 2 * size, alignment: 8
      ) { buffer in
        let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(FrameHeader.size + size)])
        let copy = UnsafeMutableRawBufferPointer(rebasing: buffer[(FrameHeader.size + size)...])
        guard (try? files.read(.log, at: start, into: frame)) == true else { return nil }
        let page = Int64(FrameHeader(UnsafeRawBufferPointer(frame)).page)
        guard page > 0,
          let isWhole = try? files.read(.database, at: (page - 1) * Int64(size), into: copy)
        else { return nil }
        return isWhole && copy.elementsEqual(frame[FrameHeader.size...])
      }
    }

    /// Whether whoever opens the database now does so without this log: it was emptied, and the file
    /// is not marked for one, since a copy of a database without a log was written over it. A writer
    /// without a log wants the file for itself, which a connection that has a log open never lets go
    /// of (`pagerOpenWalIfPresent` in pager.c).
    ///
    /// Where the log's file is empty, reads two bytes
    /// (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
    func isLeft(_ file: FileStatus?) -> Bool {
      guard file?.size == 0 else { return false }
      return withUnsafeTemporaryAllocation(byteCount: 2, alignment: 1) { buffer in
        guard let isWhole = try? files.read(.database, at: 18, into: buffer) else { return false }
        return isWhole && buffer.allSatisfy { $0 == 1 }
      }
    }

    /// nil: the file cannot be read.
    private func holdsLastFrame(_ header: WALIndexHeader) -> Bool? {
      let offset = FrameHeader.offset(header.maxFrame, pageSize: header.pageSize)
      let end = FrameHeader.offset(header.maxFrame + 1, pageSize: header.pageSize)
      return withUnsafeTemporaryAllocation(byteCount: FrameHeader.size, alignment: 8) { buffer in
        guard let isWhole = try? files.read(.log, at: offset, into: buffer) else { return nil }
        guard isWhole, FrameHeader(UnsafeRawBufferPointer(buffer)).isLast(of: header) else {
          return false
        }
        let last = UnsafeMutableRawBufferPointer(rebasing: buffer[..<1])
        return try? files.read(.log, at: end - 1, into: last)
      }
    }
  }
}
