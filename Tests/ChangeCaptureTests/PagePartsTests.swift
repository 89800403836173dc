import Hashing
import Testing

@testable import ChangeCapture

/// The small parts that pages are taken apart with.
@Suite struct PagePartsTests {
  @discardableResult
  private func image<T>(
    _ bytes: [UInt8], number: UInt32 = 2, _ body: (PageImage) throws -> T
  ) throws -> T {
    try bytes.withUnsafeBytes { try body(PageImage(number: number, bytes: $0)) }
  }

  @Test(
    arguments: [
      ([0x00], 0), ([0x7f], 127), ([0x81, 0x00], 128), ([0x82, 0x2c], 300),
      ([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], UInt64.max),
      ([0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 1 << 57),
    ] as [([UInt8], UInt64)])
  func `a variable-length integer has one to nine bytes`(_ bytes: [UInt8], _ value: UInt64) throws {
    try image(bytes + [1]) { image in
      var offset = 0
      let read = try image.varint(&offset)
      #expect(read == value)
      #expect(offset == bytes.count)
    }
    try image(Array(bytes.dropLast())) { image in
      #expect(throws: CaptureDoubt.malformedPage) {
        var offset = 0
        _ = try image.varint(&offset)
      }
    }
  }

  @Test func `no access passes the end of a page`() throws {
    try image([1, 2, 3, 4, 5]) { image in
      #expect(throws: CaptureDoubt.malformedPage) { try image.integer32(2) }
      #expect(throws: CaptureDoubt.malformedPage) { try image.integer16(-1) }
      #expect(throws: CaptureDoubt.malformedPage) { try image.byte(5) }
      #expect(throws: CaptureDoubt.malformedPage) { try image.byte(.max) }
      #expect(throws: CaptureDoubt.malformedPage) {
        try image.digest(3..<6, with: KeyedHash())
      }
    }
    try image([]) { image in
      #expect(throws: CaptureDoubt.malformedPage) { try image.byte(0) }
    }
  }

  @Test func `a payload is divided as the file format says`() throws {
    // https://www.sqlite.org/fileformat2.html: U = 512, X = U-35, M = ((U-12)*32/255)-23.
    let layout = PayloadLayout(usableSize: 512, isTable: true)
    #expect(try layout.local(477) == 477)
    #expect(try layout.local(478) == 39)
    #expect(try layout.local(39 + 508 + 1) == 40)
    #expect(try PayloadLayout(usableSize: 512, isTable: false).local(103) == 39)
    #expect(throws: CaptureDoubt.malformedPage) { try layout.local(.max) }
  }

  @Test func `digests differ for every byte, length and key`() {
    let digest = KeyedHash()
    var seen: Set<UInt64> = []
    for length in 0...200 {
      var bytes = [UInt8](repeating: 0, count: length)
      bytes.withUnsafeBytes { _ = seen.insert(digest.digest($0)) }
      for index in bytes.indices {
        for bit in [1, 0x80] as [UInt8] {
          bytes[index] ^= bit
          let value = bytes.withUnsafeBytes { digest.digest($0) }
          #expect(seen.insert(value).inserted, "length \(length), byte \(index)")
          bytes[index] ^= bit
        }
      }
    }
    let bytes: [UInt8] = [1, 2, 3]
    #expect(bytes.withUnsafeBytes { digest.digest($0) != KeyedHash().digest($0) })
  }

  @Test func `a page has the last of its frames`() {
    var changed = ChangedPages()
    for (page, frame) in [(7, 1), (2, 2), (7, 3), (9, 4), (2, 5)] as [(UInt32, UInt32)] {
      changed.append(page: page, frame: frame)
    }
    changed.finish()
    #expect(Array(changed) == [2, 7, 9])
    #expect([1, 2, 7, 8, 9].map { changed.frame(ofPage: $0) } == [nil, 5, 3, nil, 4])
  }

  @Test(
    arguments: [
      [], [5], [1, 2, 3], [.min, 0, .max], [-4, 0xffff_fffb], [-5, 0xffff_fffb], [.max],
    ] as [[Int64]])
  func `rows of a leaf come back as they were put in`(_ rowids: [Int64]) {
    let cells = rowids.map { CellDigest(rowid: $0, digest: .random(in: 0...UInt64.max)) }
    let leaf = LeafCells(cells, pageDigest: 3)
    #expect((0..<leaf.count).map { leaf[$0] } == cells)
  }

  @Test func `joined rowids are ascending and each once`() {
    #expect(RowIDs.union([1, 3, 5], [2, 3, 9]) == [1, 2, 3, 5, 9])
    #expect(RowIDs.union([], [2]) == [2])
    #expect(RowIDs.union([2], []) == [2])
  }

  @Test func `pages that hold no b-tree are known by their numbers`() throws {
    var bytes = [UInt8](repeating: 0, count: 100)
    bytes.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
    bytes[16] = 4  // 1024 bytes
    bytes[55] = 9  // auto-vacuum
    let layout = try image(bytes, number: 1) { try FileHeader($0) }
    #expect(layout.isAuxiliary(2))
    #expect(!layout.isAuxiliary(3))
    #expect(layout.isAuxiliary(2 + 1024 / 5 + 1))
    #expect(layout.isAuxiliary(0x4000_0000 / 1024 + 1))
    bytes[16] = 3
    #expect(throws: CaptureDoubt.unknownFormat) {
      try image(bytes, number: 1) { try FileHeader($0) }
    }
    bytes[0] = 0
    #expect(throws: CaptureDoubt.unknownFormat) {
      try image(bytes, number: 1) { try FileHeader($0) }
    }
  }
}
