/// One entry of an inotify queue (`man 7 inotify`).
struct DirectoryNotification: Equatable {
  struct Kinds: OptionSet {
    let rawValue: UInt8
    /// A file was written.
    static let content = Kinds(rawValue: 1)
    /// A name came or went.
    static let entry = Kinds(rawValue: 2)
    /// The directory itself is gone or elsewhere: nothing more will be told.
    static let lost = Kinds(rawValue: 4)
    /// The queue was full, so notifications of unknown content are missing.
    static let overflow = Kinds(rawValue: 8)
  }

  /// Which watch it belongs to; -1 for an overflow.
  var watch: Int32
  var kinds: Kinds
  /// The name within the directory; empty: the directory itself.
  var name: String

  private static let headerSize = 16
  /// With a name of NAME_MAX bytes, and the zero behind it.
  static let mostBytes = headerSize + 256

  /// Calls `body` for each entry in what one read gave.
  ///
  /// The layout is `struct inotify_event`: watch (4 bytes), mask (4), cookie (4), length of the
  /// name (4), and the name, padded with zeros. Bytes that do not form an entry end the walk.
  static func parse(_ bytes: UnsafeRawBufferPointer, _ body: (DirectoryNotification) -> Void) {
    var offset = 0
    while bytes.count - offset >= headerSize {
      let watch = bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
      let mask = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
      offset += headerSize
      guard length <= bytes.count - offset else { return }
      let padded = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
      let name = UnsafeRawBufferPointer(rebasing: padded[..<(padded.firstIndex(of: 0) ?? length)])
      offset += length
      body(
        DirectoryNotification(
          watch: watch, kinds: Kinds(mask: mask), name: String(decoding: name, as: UTF8.self)))
    }
  }
}
