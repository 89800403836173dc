/// What stands before each page in the log
/// (https://www.sqlite.org/fileformat2.html#walformat, frame header format).
struct FrameHeader {
  static let size = 24

  let page: UInt32
  /// Where a commit ends with this frame: the pages of the database then; else 0.
  let pageCount: UInt32
  /// As they lie in the file, like those of the wal-index header.
  private let salts: UInt64
  /// Over all frames up to this one.
  private let checksum: (UInt32, UInt32)

  /// - Precondition: `bytes` has at least ``size`` bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count >= Self.size)
    page = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
    pageCount = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    salts = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    checksum = (
      UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
      UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
    )
  }

  /// Whether a commit ends with this frame.
  var isCommit: Bool { pageCount != 0 }

  /// Whether the frame can be one of a log.
  ///
  /// A transaction that overwrites its own spilled frames writes them without salts and checksums
  /// and fills these in when it commits; after a savepoint was rolled back SQLite 3.40 forgets some.
  /// Readers go by the index and do not mind.
  func belongs(to header: WALIndexHeader) -> Bool { salts == header.salts || salts == 0 }

  /// Whether the frame can be the last one that `header` names.
  func isLast(of header: WALIndexHeader) -> Bool {
    salts == 0 || salts == header.salts && checksum == header.frameChecksum
  }

  /// Where a frame lies in the log; frames count from 1.
  static func offset(_ frame: UInt32, pageSize: Int) -> Int64 {
    32 + (Int64(frame) - 1) * Int64(size + pageSize)
  }
}
