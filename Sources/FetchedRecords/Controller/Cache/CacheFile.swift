import ChangeCapture
import Foundation
import GRDB
import Hashing
import OrderedResults

/// A result in a file beside its database, with all that says what it is of: the key names what was
/// asked for, the stamp which state of it the result is.
///
/// One file for each name, never written in place: a new one takes the old one's place when it is
/// whole. What is read is checked byte by byte: a file that is damaged or of another version is as
/// none at all.
///
///     format, 8 bytes of checksum of all that follows, key, stamp, count, records
///
/// Each of key, stamp and record begins with its length in 4 bytes; numbers are in the machine's
/// byte order, which the format's name tells.
struct CacheFile {
  static let format = "didchange 2 \(Int.bitWidth) \(1.littleEndian == 1 ? "little" : "big")"

  let url: URL
  /// What the names of the files of one query and of different arguments begin with; nil where it
  /// has only one.
  let family: String?

  /// - Parameters:
  ///   - name: of the query.
  ///   - variant: names one set of arguments, in letters and digits.
  ///   - databasePath: beside which the file is.
  init(name: String, variant: String? = nil, databasePath: String) {
    let path = Self.prefix(databasePath) + Self.fileName(name)
    guard let variant else {
      url = URL(fileURLWithPath: path)
      family = nil
      return
    }
    // No name of a file has a dot: so the files of a query are told from those of all others.
    url = URL(fileURLWithPath: "\(path).\(variant)")
    family = URL(fileURLWithPath: "\(path).").lastPathComponent
  }

  private static func prefix(_ databasePath: String) -> String { databasePath + "-fetched-" }

  /// Letters, digits, `-` and `_` as they are, all other bytes as two hexadecimal digits.
  private static func fileName(_ name: String) -> String {
    name.utf8.map { byte in
      let character = Character(UnicodeScalar(byte))
      let isPlain =
        byte < 0x80 && (character.isLetter || character.isNumber || "-_".contains(character))
      return isPlain ? String(character) : "%" + String(Int(byte) + 0x100, radix: 16).dropFirst()
    }.joined()
  }

  /// Deletes the cache of that name, or all caches of the database.
  static func delete(name: String?, databasePath: String) {
    let files = FileManager.default
    if let name {
      try? files.removeItem(at: CacheFile(name: name, databasePath: databasePath).url)
      return
    }
    let database = URL(fileURLWithPath: databasePath)
    let prefix = URL(fileURLWithPath: prefix(databasePath)).lastPathComponent
    let folder = database.deletingLastPathComponent()
    for file in (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
    where file.hasPrefix(prefix) {
      try? files.removeItem(at: folder.appendingPathComponent(file))
    }
  }

  // MARK: - Writing

  /// Why a file could not be written.
  struct WriteError: Error {
    /// In the system's words.
    let reason: String

    init(_ error: any Error) {
      let error = error as NSError
      let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
      reason =
        underlying.domain == NSPOSIXErrorDomain
        ? String(cString: strerror(Int32(underlying.code))) : error.localizedDescription
    }
  }

  /// Writes a result; what fails is only a fetch next time. O(b), b bytes.
  ///
  /// - Throws: what keeps the file as it was.
  func write(_ results: Results, key: CacheKey, stamp: [UInt8]) throws(WriteError) {
    var body: [UInt8] = []
    body.appendPiece(key.bytes)
    body.appendPiece(stamp)
    withUnsafeBytes(of: results.count) { body += $0 }
    for record in results.records(in: 0..<results.count) {
      record.withBytes { body.appendPiece($0) }
    }
    var file = Data(Self.format.utf8)
    withUnsafeBytes(of: body.withUnsafeBytes { KeyedHash.stable.digest($0) }) { file += $0 }
    file += body
    do {
      try file.write(to: url, options: .atomic)
    } catch {
      throw WriteError(error)
    }
  }

  // MARK: - Reading

  /// The result and its stamp, if it was written for this key and this layout; `isWanted` says
  /// whether the records of a stamp are worth reading.
  ///
  /// O(b), b bytes.
  func read(
    key: CacheKey, layout: RecordLayout, isWanted: ([UInt8]) -> Bool = { _ in true }
  ) -> (stamp: [UInt8], results: Results)? {
    guard let data = try? Data(contentsOf: url) else { return nil }
    return data.withUnsafeBytes { bytes in
      var reader = PieceReader(rest: bytes[...])
      guard reader.take(Self.format.utf8.count)?.elementsEqual(Self.format.utf8) == true,
        let checksum = reader.number(UInt64.self),
        checksum == KeyedHash.stable.digest(UnsafeRawBufferPointer(rebasing: reader.rest)),
        reader.piece()?.elementsEqual(key.bytes) == true,
        let stamp = reader.piece().map(Array.init), isWanted(stamp),
        let count = reader.number(Int.self)
      else { return nil }
      return Self.results(count, from: &reader, layout).map { (stamp, $0) }
    }
  }

  private static func results(
    _ count: Int, from reader: inout PieceReader, _ layout: RecordLayout
  ) -> Results? {
    var builder = ResultsBuilder(layout: layout)
    var encoder = RecordEncoder()
    var rest = count
    while rest > 0 {
      encoder.begin()
      guard var columns = reader.piece().map(PieceReader.init(rest:)),
        columns.decodeColumns(layout.columnCount, into: &encoder)
      else { return nil }
      builder.append(encoder)
      rest -= 1
    }
    return reader.rest.isEmpty ? try? builder.finishWithoutChanges() : nil
  }
}

extension [UInt8] {
  fileprivate mutating func appendPiece(_ bytes: some Collection<UInt8>) {
    Swift.withUnsafeBytes(of: UInt32(bytes.count)) { self += $0 }
    self += bytes
  }
}

/// Takes a cache file apart; every step looks how much is left.
struct PieceReader {
  private(set) var rest: Slice<UnsafeRawBufferPointer>

  init(rest: Slice<UnsafeRawBufferPointer>) { self.rest = rest }

  mutating func take(_ count: Int) -> Slice<UnsafeRawBufferPointer>? {
    guard count >= 0, count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func number<Number: BitwiseCopyable>(_: Number.Type) -> Number? {
    take(MemoryLayout<Number>.size).map {
      UnsafeRawBufferPointer(rebasing: $0).loadUnaligned(as: Number.self)
    }
  }

  mutating func piece() -> Slice<UnsafeRawBufferPointer>? {
    number(UInt32.self).flatMap { take(Int($0)) }
  }

  /// Appends the columns of an encoded record; false: they are no such record.
  mutating func decodeColumns(_ count: Int, into encoder: inout RecordEncoder) -> Bool {
    for _ in 0..<count {
      guard decodeColumn(into: &encoder) else { return false }
    }
    return rest.isEmpty
  }

  private mutating func decodeColumn(into encoder: inout RecordEncoder) -> Bool {
    guard let code = code() else { return false }
    switch code {
    case 0: encoder.appendNull()
    case 1: return append(number(Int8.self), into: &encoder)
    case 2: return append(number(Int16.self), into: &encoder)
    case 3: return append(number(Int32.self), into: &encoder)
    case 4: return append(number(Int64.self), into: &encoder)
    case 5:
      guard let real = number(Double.self) else { return false }
      encoder.append(real)
    default:
      guard let bytes = take((code - 6) / 2) else { return false }
      let buffer = UnsafeRawBufferPointer(rebasing: bytes)
      if code.isMultiple(of: 2) {
        encoder.append(text: buffer)
      } else {
        encoder.append(blob: buffer)
      }
    }
    return true
  }

  private func append(
    _ integer: (some FixedWidthInteger)?, into encoder: inout RecordEncoder
  ) -> Bool {
    guard let integer else { return false }
    encoder.append(Int64(integer))
    return true
  }

  /// A LEB128 number of at most 33 bits, which is what 4 GiB of text take.
  private mutating func code() -> Int? {
    var code = 0
    for shift in stride(from: 0, through: 35, by: 7) {
      guard let byte = number(UInt8.self) else { return nil }
      code |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return code }
    }
    return nil
  }
}
