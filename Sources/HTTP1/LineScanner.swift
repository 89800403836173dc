/// Finds the lines of a head or of a trailer section in bytes that come in any division.
///
/// A byte is looked at once, however the bytes are divided: `scanned` remembers how far into the
/// unfinished line the last call came.
struct LineScanner {
  private var scanned = 0

  /// The line that begins at an offset, without its CRLF, or nil while that has not come.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that are there.
  ///   - start: Where the line begins; the same in each call until the line is found.
  ///   - limit: The most bytes of a line and its CRLF.
  ///   - tooLong: What to throw where there are more.
  /// - Returns: The range of the line.
  /// - Throws: Why what came cannot be a line.
  mutating func line(
    in bytes: Span<UInt8>, from start: Int, limit: Int, tooLong: RequestError
  ) throws(RequestError) -> Range<Int>? {
    var index = start + scanned
    let end = min(bytes.count, start + limit)
    while index < end {
      let byte = bytes[index]
      // Most bytes leave here.
      if !byte.isControl || byte == .tab {
        index += 1
        continue
      }
      switch byte {
      case .lineFeed: throw .bareLineFeed  // RFC 9112 §2.2 lets a server refuse it
      case .carriageReturn:
        guard index + 1 < end else { break }
        guard bytes[index + 1] == .lineFeed else { throw .bareCarriageReturn }
        scanned = 0
        return start..<index
      default: throw .controlCharacter
      }
      break
    }
    if end - start >= limit { throw tooLong }
    scanned = index - start
    return nil
  }
}
