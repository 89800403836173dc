/// Finds the end of a body, in bytes that come in any division (RFC 9112 §6, §7.1).
///
/// It keeps nothing of a body but counts its bytes and says where they are: a server drops them, so
/// that a client can make it remember none. O(n) for n bytes.
package struct BodyDecoder: Sendable {
  private enum State: Sendable {
    case length(Int)
    case chunkSize(Int, digits: Int)
    case chunkExtension(Int, ChunkExtensionScanner)
    case chunkSizeEnd(Int)
    case chunk(Int)
    case chunkEnd, chunkEndLineFeed
    case trailers
    case done
  }

  private let limits: MessageLimits
  private var state: State
  /// Bytes of the body so far, without the frames of its chunks.
  package private(set) var size = 0
  private var extensionSize = 0
  private var trailerSize = 0
  private var scanner = LineScanner()

  /// A decoder of one body.
  package init(framing: BodyFraming, limits: MessageLimits) {
    self.limits = limits
    state =
      switch framing {
      case .none: .done
      case .length(let length): .length(length)
      case .chunked: .chunkSize(0, digits: 0)
      }
  }

  /// Whether the body is over.
  package var isDone: Bool { if case .done = state { true } else { false } }

  /// Reads over what there is of the body.
  ///
  /// - Parameters:
  ///   - bytes: Bytes that begin where the last call stopped consuming, and as many more as came.
  ///   - offset: Where they begin; moved past what was consumed.
  ///   - content: Is told where among them a part of the body is, without the frames of its chunks.
  /// - Returns: Whether the body is over.
  /// - Throws: Why the body is refused. The decoder must not be used again then.
  package mutating func decode(
    _ bytes: Span<UInt8>, from offset: inout Int, content: (Range<Int>) -> Void = { _ in }
  ) throws(RequestError) -> Bool {
    while !isDone {
      if case .trailers = state {
        guard try readTrailer(bytes, from: &offset) else { return false }
        continue
      }
      guard offset < bytes.count else { return false }
      switch state {
      case .length(let left):
        let taken = take(left, bytes, from: &offset, content)
        state = taken == left ? .done : .length(left - taken)
      case .chunk(let left):
        let taken = take(left, bytes, from: &offset, content)
        state = taken == left ? .chunkEnd : .chunk(left - taken)
      default:
        try step(bytes[offset])
        offset += 1
      }
    }
    return true
  }

  private mutating func take(
    _ count: Int, _ bytes: Span<UInt8>, from offset: inout Int, _ content: (Range<Int>) -> Void
  ) -> Int {
    let taken = min(count, bytes.count - offset)
    content(offset..<offset + taken)
    offset += taken
    size += taken
    return taken
  }
}

extension BodyDecoder {
  /// One byte of a chunk's frame.
  private mutating func step(_ byte: UInt8) throws(RequestError) {
    switch (state, byte) {
    case (.chunkSize(let size, let digits), _): try stepSize(size, digits, byte)
    case (.chunkExtension(let size, let scanner), .carriageReturn):
      guard scanner.mayEnd else { throw .invalidChunkExtension }
      state = .chunkSizeEnd(size)
    case (.chunkExtension(let size, var scanner), _):
      try scanner.read(byte)
      state = .chunkExtension(size, scanner)
      extensionSize += 1
      guard extensionSize <= limits.chunkExtensionSize else { throw .chunkExtensionsTooLarge }
    case (.chunkSizeEnd(let size), .lineFeed): try begin(size)
    case (.chunkEnd, .carriageReturn): state = .chunkEndLineFeed
    case (.chunkEndLineFeed, .lineFeed): state = .chunkSize(0, digits: 0)
    case (.chunkEnd, _): throw .missingChunkEnd
    default: throw .bareCarriageReturn
    }
  }

  private mutating func stepSize(_ size: Int, _ digits: Int, _ byte: UInt8) throws(RequestError) {
    if let value = byte.hexadecimalValue {
      // RFC 9112 §7.1: large numbers are to be expected; 15 digits are less than 2^60.
      guard digits < 15 else { throw .invalidChunkSize }
      state = .chunkSize(size << 4 | Int(value), digits: digits + 1)
      return
    }
    guard digits > 0 else { throw .invalidChunkSize }
    switch byte {
    case .carriageReturn: state = .chunkSizeEnd(size)
    // White space before the semicolon is allowed (§7.1.1, BWS), and is where parsers disagree.
    case UInt8(ascii: ";"): state = .chunkExtension(size, ChunkExtensionScanner())
    default: throw .invalidChunkSize
    }
  }

  private mutating func begin(_ size: Int) throws(RequestError) {
    guard size > 0 else {
      state = .trailers
      return
    }
    guard size <= limits.bodySize - self.size else { throw .bodyTooLarge }
    state = .chunk(size)
  }

  /// Reads one line of the trailer section, checks it and drops it (RFC 9112 §7.1.2).
  ///
  /// Merging trailers into the header section is how a request gets fields that nobody checked.
  private mutating func readTrailer(
    _ bytes: Span<UInt8>, from offset: inout Int
  ) throws(RequestError) -> Bool {
    let line = try scanner.line(
      in: bytes, from: offset, limit: limits.trailerSize - trailerSize, tooLong: .trailersTooLarge)
    guard let line else { return false }
    trailerSize += line.count + 2
    offset = line.upperBound + 2
    if line.isEmpty { state = .done } else { _ = try CollectedFields.split(bytes, line) }
    return true
  }
}
