import Foundation

/// The bytes of a configuration file, and the text that they are.
enum ConfigurationFile {
  /// Reads a whole file as UTF-8: O(n) time and memory, n bytes of the file.
  static func text(path: String) throws(ConfigurationProblem) -> String {
    let bytes: Data
    do {
      bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw unreadable(path, error)
    }
    // A byte order mark (RFC 3629 §6) is no part of the text, and would shift the first column.
    return try text(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes, path)
  }

  private static func text(_ bytes: Data, _ path: String) throws(ConfigurationProblem) -> String {
    do {
      return try String(decoding: bytes, validating: ())
    } catch {
      throw ConfigurationProblem(
        file: path, position: error.position,
        message: "the file is not UTF-8: byte 0x\(String(error.byte, radix: 16, uppercase: true))",
        mend: "save it as UTF-8")
    }
  }

  private static func unreadable(_ path: String, _ error: any Error) -> ConfigurationProblem {
    let (message, mend): (String, String?) =
      switch (error as? CocoaError)?.code {
      // Foundation has the same error for what it will not read, a pipe or a device.
      case _ where NearestFile.isSpecial(path):
        ("this is no regular file", "write the configuration to a file")
      case .fileReadNoSuchFile: ("there is no such file", NearestFile.mend(path))
      case .fileReadNoPermission: ("the file may not be read", "give yourself the permission to")
      default:
        (
          "the file cannot be read",
          NearestFile.isFolder(path) ? "this is a folder; name a file" : nil
        )
      }
    return ConfigurationProblem(file: path, position: .start, message: message, mend: mend)
  }
}

/// The first byte that is not UTF-8.
private struct InvalidUTF8: Error {
  let byte: UInt8
  let position: TextPosition
}

extension String {
  /// `String(validating:as:)` says only that something is wrong, not where.
  fileprivate init(decoding bytes: Data, validating: Void) throws(InvalidUTF8) {
    if let text = String(validating: bytes, as: UTF8.self) {
      self = text
      return
    }
    var position = TextPosition.start
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var rest = bytes[...]
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      rest = rest.dropFirst(UTF8.width(scalar))
      position.pass(scalar)
    }
    throw InvalidUTF8(byte: rest.first ?? 0, position: position)
  }
}

extension TextPosition {
  /// Steps over one scalar of a text.
  mutating func pass(_ scalar: Unicode.Scalar) {
    if scalar == "\n" {
      self = TextPosition(line: line + 1, column: 1)
    } else {
      column += 1
    }
  }
}
