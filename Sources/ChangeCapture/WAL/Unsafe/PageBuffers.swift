/// The memory that pages are read into: 1.1 MB once for each reader.
final class PageBuffers {
  // Freed in `deinit`; images that point into them end with the call that made them.
  /// One frame of the log with a page of the greatest size.
  let frame = UnsafeMutableRawBufferPointer.allocate(
    byteCount: FrameHeader.size + 65_536, alignment: 16)
  /// Many neighbouring pages.
  let run = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)

  init() {
    frame.initializeMemory(as: UInt8.self, repeating: 0)
    run.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    frame.deallocate()
    run.deallocate()
  }
}
