/// A part of an open file as a body.
///
/// It is read as the socket drains, so it is never in memory whole.
package final class FileBody: Sendable {
  /// Closes the descriptor when the last part is no longer needed.
  private final class OpenFile: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { SystemCalls.close(descriptor) }
  }

  private let file: OpenFile
  let offset: Int

  /// Bytes of the body.
  package let length: Int

  /// Takes over a descriptor, and closes it when the body is no longer needed.
  package convenience init(descriptor: Int32, offset: Int, length: Int) {
    self.init(OpenFile(descriptor), offset: offset, length: length)
  }

  private init(_ file: OpenFile, offset: Int, length: Int) {
    self.file = file
    self.offset = offset
    self.length = length
  }

  var descriptor: Int32 { file.descriptor }

  func part(_ range: Range<Int>) -> FileBody {
    FileBody(file, offset: offset + range.lowerBound, length: range.count)
  }
}
