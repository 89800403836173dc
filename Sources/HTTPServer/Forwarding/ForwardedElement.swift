/// What one proxy has said of the request that it took: one element of `Forwarded` (RFC 7239 §4).
struct ForwardedElement: Equatable {
  var client: String?
  var scheme: String?
  /// The Host field that the proxy was sent.
  var host: String?

  /// The elements of all lines of the field; nil where there are none.
  static func list(_ lines: [String]) -> [ForwardedElement]? {
    let elements =
      lines.flatMap { $0[...].unquotedParts(at: UInt8(ascii: ",")) }.map { ForwardedElement($0) }
    return elements.isEmpty ? nil : elements
  }

  private init(_ text: Substring) {
    for pair in text.unquotedParts(at: UInt8(ascii: ";")) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let value = Self.unquoted(parts[1].trimmed)
      switch parts[0].trimmed.lowercased() {
      case "for": client = Self.node(value[...])
      case "proto": scheme = Forwarding.scheme(value[...])
      case "host": host = value
      default: break
      }
    }
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
    var result = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        result.append(character)
        isEscaped = false
      }
    }
    return result
  }

  /// An address without its port (RFC 7239 §6), `unknown`, or an obfuscated name; nil where it is
  /// none of them.
  static func node(_ text: Substring) -> String? {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    if text.hasPrefix("[") {
      let address = String(text.dropFirst().prefix { $0 != "]" })
      return IPAddress(address).map { _ in address }
    }
    let name = String(text)
    if IPAddress(name) != nil { return name }
    let host = String(text.prefix { $0 != ":" })
    if IPAddress(host) != nil { return host }
    let isHidden =
      host == "unknown"
      || host.hasPrefix("_") && host.utf8.count <= 64
        && host.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
    return isHidden ? host : nil
  }
}
