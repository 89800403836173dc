/// The pages of one snapshot of a database.
protocol DatabasePages: AnyObject {
  /// What the pages' format is.
  var layout: FileHeader { get }
  /// No page has a higher number.
  var pageCount: UInt32 { get }
  /// Reads a page; the image is valid until the next call.
  func page(_ number: UInt32) throws(CaptureDoubt) -> PageImage
  /// Reads pages in the order of their numbers, many at a time.
  func forEachPage(
    _ numbers: [UInt32], _ body: (PageImage) throws(CaptureDoubt) -> Void
  ) throws(CaptureDoubt)
}

extension DatabasePages {
  func forEachPage(
    _ numbers: [UInt32], _ body: (PageImage) throws(CaptureDoubt) -> Void
  ) throws(CaptureDoubt) {
    for number in numbers { try body(try page(number)) }
  }
}
