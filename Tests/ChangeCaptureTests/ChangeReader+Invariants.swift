import GRDB

@testable import ChangeCapture

extension ChangeReader {
  /// A broken promise of the map to itself.
  struct BrokenInvariant: Error { var message: String }

  /// Compares the map with one that is made anew. O(b), b the bytes of the followed tables.
  ///
  /// Inside the transaction of the last look.
  func checkInvariants(in db: Database) throws {
    guard let map, let connection = db.sqliteConnection, carried.isNothing else { return }
    let files = try DatabaseFiles(of: connection)
    var look = Look(files: files, wal: WALReader(files, buffers: buffers))
    if case .log(let header) = map.position { (look.header, look.before) = (header, header) }
    let fresh = try load(look, in: db)
    try fresh.readRowsAhead(
      atMost: .max, reader: &leafReader, from: try snapshot(look, of: fresh))
    guard fresh.schema == map.schema else { throw BrokenInvariant(message: "schema") }
    guard fresh.layout == map.layout else { throw BrokenInvariant(message: "layout") }
    for page in 1...UInt32(max(fresh.pages.parents.count, map.pages.parents.count))
    where fresh.pages.role(of: page) != map.pages.role(of: page) {
      throw BrokenInvariant(
        message: """
          page \(page) is \(String(describing: map.pages.role(of: page))), should be \
          \(String(describing: fresh.pages.role(of: page)))
          """)
    }
    for (tree, outline) in fresh.outlines {
      let name = map.schema.trees[tree].name
      guard let mine = map.outlines[tree] else {
        throw BrokenInvariant(message: "the outline of \(name) is not kept")
      }
      guard mine.nodes == outline.nodes else {
        throw BrokenInvariant(message: "the outline of \(name): \(mine), should be \(outline)")
      }
    }
    for (tree, digests) in fresh.followed.enumerated() {
      let name = map.schema.trees[tree].table
      guard let digests, let mine = map.followed[tree] else {
        guard digests == nil, map.followed[tree] == nil else {
          throw BrokenInvariant(message: "\(name) is followed: \(map.followed[tree] != nil)")
        }
        continue
      }
      // What was given up once is not followed until the owner does without it.
      if mine.isTooLarge { continue }
      // What it will be given up for has not been read.
      if digests.isTooLarge, !mine.isComplete { continue }
      guard Set(mine.leaves.keys).isSubset(of: digests.leaves.keys) else {
        throw BrokenInvariant(message: "leaves of \(name)")
      }
      for (page, leaf) in digests.leaves where mine.leaves[page] != leaf {
        // Its turn to be read may not have come.
        if mine.leaves[page] == nil, mine.unread.contains(page) { continue }
        throw BrokenInvariant(message: "page \(page) of \(name)")
      }
      let isSame =
        mine.isComplete
        ? mine.overflow == digests.overflow
        : mine.overflow.chains.allSatisfy { digests.overflow.chains[$0] == $1 }
      guard isSame else { throw BrokenInvariant(message: "overflow of \(name)") }
    }
  }
}
