import Testing

@testable import ChangeCapture

@Suite struct UnexplainedWritesTests {
  private let start = ContinuousClock.now
  private var writes = UnexplainedWrites()

  private func file(_ modified: Int64, size: Int64 = 4096) -> FileStatus {
    FileStatus(
      identity: FileIdentity(device: 1, inode: 1), size: size, modified: modified,
      changed: modified)
  }

  private func log(
    copied: UInt32, attempted: UInt32, salts: UInt64 = 7, inPlace: UInt32 = 0
  ) -> UnexplainedWrites.Cause {
    .log(
      salts: salts, CheckpointProgress(copied: copied, attempted: attempted), inPlace: inPlace)
  }

  /// One poll, in which nothing changed while it looked.
  private mutating func poll(
    _ milliseconds: Int, _ file: FileStatus, _ cause: UnexplainedWrites.Cause,
    emptied: Int64? = nil, isLast: Bool = true
  ) -> Bool {
    writes.note(
      file, cause, emptied: emptied.map { .init(time: $0, isLast: isLast) }, isSettled: true,
      at: start + .milliseconds(milliseconds))
  }

  @Test mutating func `a commit explains a write without a log, also one that is seen first`() {
    #expect(!poll(0, file(1), .changes(0)))
    #expect(!poll(50, file(2), .changes(1)))
    #expect(!poll(100, file(2), .changes(1)))
    // The write is there, the commit is not yet.
    #expect(!poll(150, file(3), .changes(1)))
    #expect(!poll(200, file(4), .changes(2)))
    #expect(!poll(250, file(4), .changes(2)))
  }

  @Test mutating func `a write that nothing explains is told once, when it seems to be over`() {
    #expect(!poll(0, file(1), .changes(0)))
    #expect(!poll(50, file(2, size: 0), .changes(0)))
    #expect(!poll(100, file(3), .changes(0)))
    #expect(poll(150, file(3), .changes(0)))
    #expect(!poll(200, file(3), .changes(0)))
    // The same content may come back.
    #expect(!poll(250, file(1), .changes(0)))
    #expect(poll(300, file(1), .changes(0)))
  }

  @Test mutating func `what follows a commit that was found is not its work`() {
    #expect(!poll(0, file(1), .changes(0)))
    writes.settle(file(2), .changes(1))
    #expect(!poll(50, file(3), .changes(1)))
    #expect(poll(100, file(3), .changes(1)))
  }

  @Test mutating func `what follows the first commit that was found is not its work`() {
    writes.settle(file(2), .changes(1))
    #expect(!poll(50, file(3), .changes(1)))
    #expect(poll(100, file(3), .changes(1)))
  }

  @Test mutating func `a write that does not end is told in time`() {
    #expect(!poll(0, file(1), .changes(0)))
    let told = (1...20).filter { poll(50 * $0, file(Int64(1 + $0)), .changes(0)) }
    #expect(told.first == 9)
    #expect(told.count == 2)
  }

  @Test mutating func `a checkpoint explains its writes, and no later ones`() {
    #expect(!poll(0, file(1), log(copied: 0, attempted: 0)))
    for step in 1...3 {
      #expect(!poll(50 * step, file(Int64(1 + step)), log(copied: 0, attempted: 9)))
    }
    #expect(!poll(200, file(5), log(copied: 9, attempted: 9)))
    #expect(!poll(250, file(5), log(copied: 9, attempted: 9)))
    #expect(!poll(300, file(6), log(copied: 9, attempted: 9)))
    #expect(poll(350, file(6), log(copied: 9, attempted: 9)))
  }

  @Test mutating func `a log that begins anew does not explain a write`() {
    #expect(!poll(0, file(1), log(copied: 9, attempted: 9)))
    #expect(!poll(50, file(1), log(copied: 0, attempted: 0, salts: 8)))
    #expect(!poll(100, file(2), log(copied: 0, attempted: 0, salts: 8)))
    #expect(poll(150, file(2), log(copied: 0, attempted: 0, salts: 8)))
  }

  @Test mutating func `a checkpoint that empties the log explains no write behind that`() {
    /// Commits are counted where the log is empty.
    func empty(_ salts: UInt64) -> UnexplainedWrites.Cause {
      log(copied: 0, attempted: 0, salts: salts, inPlace: UInt32(salts))
    }
    #expect(!poll(0, file(1), log(copied: 0, attempted: 0)))
    #expect(!poll(50, file(2), empty(8), emptied: 2))
    #expect(!poll(100, file(2), empty(8), emptied: 2))
    #expect(!poll(150, file(2), log(copied: 0, attempted: 0, salts: 8), emptied: nil))
    writes.settle(file(5), empty(9), emptied: .init(time: 4, isLast: true))
    // The file system may be about to say when it emptied the log.
    for step in 0..<10 { #expect(!poll(200 + 50 * step, file(5), empty(9), emptied: 4)) }
    #expect(poll(700, file(5), empty(9), emptied: 4))
    #expect(!poll(750, file(5), empty(9), emptied: 4))
  }

  @Test mutating func `a log that is long in being emptied is no foreign write`() {
    let empty = log(copied: 0, attempted: 0, salts: 8, inPlace: 5)
    #expect(!poll(0, file(1), log(copied: 0, attempted: 0)))
    // It is empty, and has the time of its last write.
    for step in 1...5 { #expect(!poll(50 * step, file(3), empty, emptied: 2)) }
    #expect(!poll(300, file(3), empty, emptied: 4))
    #expect(!poll(900, file(3), empty, emptied: 4))
    // What comes then is told as ever.
    #expect(!poll(950, file(5), empty, emptied: 4))
    #expect(poll(1000, file(5), empty, emptied: 4))
  }

  @Test mutating func `in one step of the clock the order of the notifications counts`() {
    #expect(!poll(0, file(1), log(copied: 0, attempted: 0)))
    writes.settle(
      file(2), log(copied: 0, attempted: 0, salts: 8), emptied: .init(time: 2, isLast: false))
    #expect(!poll(50, file(2), log(copied: 0, attempted: 0, salts: 8), emptied: 2))
    #expect(!poll(100, file(3), log(copied: 0, attempted: 0, salts: 9), emptied: 3, isLast: false))
    // Commits that follow explain nothing of it.
    #expect(poll(150, file(3), log(copied: 0, attempted: 0, salts: 10)))
  }

  @Test mutating func `a checkpoint whose process was killed explains no writes for ever`() {
    #expect(!poll(0, file(1), log(copied: 0, attempted: 0)))
    for step in 1...8 { #expect(!poll(50 * step, file(2), log(copied: 0, attempted: 9))) }
    #expect(!poll(450, file(3), log(copied: 0, attempted: 9)))
    #expect(poll(500, file(3), log(copied: 0, attempted: 9)))
  }

  @Test mutating func `commits that are written in place explain their pages`() {
    #expect(!poll(0, file(1), log(copied: 0, attempted: 0, inPlace: 1)))
    for step in 1...5 {
      let number = UInt32(1 + step)
      let change = log(copied: 0, attempted: 0, inPlace: number)
      #expect(!poll(100 * step, file(Int64(number)), change))
      #expect(!poll(100 * step + 50, file(Int64(number)), change))
    }
  }
}
