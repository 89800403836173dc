/// Checks what stands between a chunk's first semicolon and its CR, byte by byte:
///
///     chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
///
/// Extensions mean nothing here (RFC 9112 §7.1.1: what is not known is ignored), but a line that is
/// none may be where another parser on the way sees the end of the line elsewhere.
struct ChunkExtensionScanner: Sendable {
  private enum State: Sendable {
    /// After the semicolon, and blanks.
    case beforeName
    case name
    /// After blanks: the `=` or the next semicolon.
    case afterName
    /// After the `=`, and blanks.
    case beforeValue
    case token
    case quoted
    /// After the backslash of a quoted pair.
    case escaped
    /// After the closing quotation mark.
    case unquoted
    /// After blanks: the next semicolon.
    case afterValue
  }

  private var state = State.beforeName

  /// Whether the line may end here.
  var mayEnd: Bool {
    switch state {
    case .name, .token, .unquoted: true
    default: false
    }
  }

  /// Reads a byte that is not CR.
  mutating func read(_ byte: UInt8) throws(RequestError) {
    guard let next = next(byte) else { throw .invalidChunkExtension }
    state = next
  }

  private func next(_ byte: UInt8) -> State? {
    switch state {
    case .beforeName: byte.isBlank ? .beforeName : byte.isTokenCharacter ? .name : nil
    case .name: byte.isTokenCharacter ? .name : afterName(byte)
    case .afterName: afterName(byte)
    case .beforeValue: beforeValue(byte)
    case .token: byte.isTokenCharacter ? .token : afterValue(byte)
    case .quoted: quoted(byte)
    // RFC 9110 §5.6.4: a blank, a visible character or obs-text.
    case .escaped: byte.isFieldValueCharacter ? .quoted : nil
    case .unquoted, .afterValue: afterValue(byte)
    }
  }

  private func afterName(_ byte: UInt8) -> State? {
    byte == UInt8(ascii: "=") ? .beforeValue : byte.isBlank ? .afterName : semicolon(byte)
  }

  private func beforeValue(_ byte: UInt8) -> State? {
    if byte == UInt8(ascii: "\"") { return .quoted }
    return byte.isBlank ? .beforeValue : byte.isTokenCharacter ? .token : nil
  }

  private func quoted(_ byte: UInt8) -> State? {
    switch byte {
    case UInt8(ascii: "\""): .unquoted
    case UInt8(ascii: "\\"): .escaped
    default: byte.isFieldValueCharacter ? .quoted : nil
    }
  }

  private func afterValue(_ byte: UInt8) -> State? {
    byte.isBlank ? .afterValue : semicolon(byte)
  }

  private func semicolon(_ byte: UInt8) -> State? {
    byte == UInt8(ascii: ";") ? .beforeName : nil
  }
}
