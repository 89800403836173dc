import FetchedRecords
import HTTPServer
import HTTPTypes
import JSON
import OrderedResults
import QueryAnalysis

// Sections and records of a result.
extension RecordsService {
  /// `GET /v1/queries/{query}/sections`
  func listSections(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder, isLong: Self.hasManySections) { _, snapshot, _ in
      snapshot.json { json in
        json.member("numberOfRecords", snapshot.results.count)
        json.sections(of: snapshot.results)
      }
    }
  }

  private static let hasManySections: @Sendable (Feed, ResultsSnapshot, QueryItems) -> Bool = {
    _, snapshot, _ in snapshot.results.numberOfSections > quickSearch
  }

  /// `GET /v1/queries/{query}/sections/{section}`
  func describeSection(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder) { _, snapshot, _ in
      let index = try sectionIndex(request, in: snapshot.results)
      var json = JSONWriter()
      json.section(snapshot.results.section(at: index), index: index)
      return json.bytes
    }
  }

  /// `GET /v1/queries/{query}/sections/{section}/records`
  func listSectionRecords(_ request: Request, _ responder: Responder, _ format: PageFormat) {
    withPage(request, responder, format) { snapshot in
      let index = try sectionIndex(request, in: snapshot.results)
      let section = snapshot.results.section(at: index)
      return section.offset..<section.offset + section.numberOfRecords
    }
  }

  /// `GET /v1/queries/{query}/sections/{section}/records/{item}`
  func recordAtIndexPath(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder) { feed, snapshot, _ in
      let section = try sectionIndex(request, in: snapshot.results)
      let text = request.parameters["item"]
      let count = snapshot.results.section(at: section).numberOfRecords
      guard let item = Int(index: text), (0..<count).contains(item) else {
        throw Problem.notFound(
          "there is no record \(text) in section \(section): it has \(count), counted from 0")
      }
      let offset = snapshot.results.offset(of: IndexPath(section: section, item: item))
      try refresher.checkRoom(forText: snapshot.results[offset].byteCount)
      return snapshot.record(at: offset, feed.key.arguments)
    }
  }

  /// `GET /v1/queries/{query}/records`
  func listRecords(_ request: Request, _ responder: Responder, _ format: PageFormat) {
    if format == .json, let response = rememberedPage(request) {
      return responder.respond(response)
    }
    if answerFromPage(request, responder, format) { return }
    listLiveRecords(request, responder, format)
  }

  /// The same of a live result, which it becomes.
  func listLiveRecords(_ request: Request, _ responder: Responder, _ format: PageFormat) {
    withPage(request, responder, format) { snapshot in 0..<snapshot.results.count }
  }

  private func withPage(
    _ request: Request, _ responder: Responder, _ format: PageFormat,
    _ range: @escaping @Sendable (ResultsSnapshot) throws -> Range<Int>
  ) {
    let isLong = { @Sendable (_: Feed, snapshot: ResultsSnapshot, items: QueryItems) in
      (try? PageParameters(items))?.isLong(in: snapshot) ?? false
    }
    if format == .json, let response = rememberedPage(request) {
      return responder.respond(response)
    }
    answer(request, responder, words: PageParameters.words, isLong: isLong) {
      [registry] feed, snapshot, items in
      let page = try snapshot.page(
        try PageParameters(items), in: try range(snapshot),
        RecordForm(snapshot, feed.key.arguments), registry.refresher
      ) { feed.keys(of: snapshot) }
      let response = page.response(format, to: request)
      return format == .json ? remembered(response, of: feed, snapshot, for: request) : response
    }
  }

  /// `GET /v1/queries/{query}/records/{key}`
  func recordByKey(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder, isLong: Self.isLongSearchForKey) { feed, snapshot, _ in
      let offset = try offset(ofKeyIn: request, feed, snapshot)
      try refresher.checkRoom(forText: snapshot.results[offset].byteCount)
      return snapshot.record(at: offset, feed.key.arguments)
    }
  }

  static let isLongSearchForKey: @Sendable (Feed, ResultsSnapshot, QueryItems) -> Bool = {
    feed, snapshot, _ in
    snapshot.results.count > quickSearch && !feed.knowsKeys(of: snapshot)
  }

  /// Where the record is whose key the path names.
  func offset(
    ofKeyIn request: Request, _ feed: Feed, _ snapshot: ResultsSnapshot
  ) throws(Problem) -> Int {
    let encoded = request.parameters.encoded("key")
    if let offset = KeyText(encoded).offset(in: feed.keys(of: snapshot)) { return offset }
    let names = snapshot.results.layout.keyNames
    let form =
      names.isEmpty
      ? "the query has no key; use an index path" : "the key is \(names.joined(separator: ","))"
    throw Problem.notFound("there is no record with the key \(encoded): \(form)")
  }

  /// `GET /v1/queries/{query}/sectionIndexTitles`
  func listSectionIndexTitles(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder, isLong: Self.hasManySections) { _, snapshot, _ in
      var json = JSONWriter()
      json.object { json in
        json.member("version", snapshot.version.description)
        json.array("sectionIndexTitles") { json in
          for title in snapshot.results.sectionIndexTitles { json.string(title) }
        }
      }
      return json.bytes
    }
  }

  /// `GET /v1/queries/{query}/sectionIndexTitles/{title}`
  func sectionForIndexTitle(_ request: Request, _ responder: Responder) {
    let title = request.parameters["title"]
    withSnapshot(request, responder, isLong: Self.hasManySections) { _, snapshot, _ in
      guard let section = snapshot.results.section(forIndexTitle: title) else {
        throw Problem.notFound("there is no section: the result is empty")
      }
      var json = JSONWriter()
      json.object { $0.member("section", section) }
      return json.bytes
    }
  }

  private func fetched(_ snapshot: ResultsSnapshot) throws -> Response {
    try caller?.checkIsKnown()
    return Response(json: snapshot.json { _ in })
  }

  /// `POST /v1/queries/{query}/fetch`
  func fetch(_ request: Request, _ responder: Responder) {
    do {
      let key = try key(of: request).key
      try hold(key, request, responder) { feed, end in
        refresher.fetch(feed.controller) { result in
          switch result {
          case .failure(let failure):
            end()
            responder.respond(Self.response(to: problem(failure, of: key.query)))
          case .success(let snapshot):
            guard let caller, let row = caller.row else {
              end()
              return responder.respond(Self.answer { try fetched(snapshot) })
            }
            settle(feed, with: row, caller.gate) { head in
              end()
              switch head {
              case nil: again?(responder)
              case .failure(let problem): responder.respond(Self.response(to: problem))
              case .success(let head):
                responder.respond(Self.answer { try fetched(head.snapshot) })
              }
            }
          }
        }
      }
    } catch {
      responder.respond(Self.response(to: error))
    }
  }

  private func sectionIndex(_ request: Request, in results: Results) throws -> Int {
    let text = request.parameters["section"]
    guard let index = Int(index: text), (0..<results.numberOfSections).contains(index) else {
      throw Problem.notFound(
        "there is no section \(text): there are \(results.numberOfSections), counted from 0")
    }
    return index
  }
}

extension Int {
  /// A number as a path has it, in one way only: 07 and +7 are not 7, or a resource would have several addresses.
  fileprivate init?(index text: String) {
    guard let number = Int(text), "\(number)" == text else { return nil }
    self = number
  }
}

extension Results {
  /// Each index title once, in the order of the sections.
  fileprivate var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return (0..<numberOfSections).map { section(at: $0).indexTitle }
      .filter { seen.insert($0).inserted }
  }

  /// The first section with that title, or else the next one in order.
  ///
  /// "Next in order" is by Unicode scalars, like the titles of sections that SQLite orders by bytes,
  /// and downwards where the first title is behind the last one; behind the last one it is the last
  /// section.
  fileprivate func section(forIndexTitle title: String) -> Int? {
    let titles = (0..<numberOfSections).map { section(at: $0).indexTitle }
    guard let first = titles.first, let last = titles.last else { return nil }
    let isDescending = last.precedes(first)
    return titles.firstIndex(of: title)
      ?? titles.firstIndex { isDescending ? $0.precedes(title) : title.precedes($0) }
      ?? titles.indices.last
  }
}

extension String {
  fileprivate func precedes(_ other: String) -> Bool {
    unicodeScalars.lexicographicallyPrecedes(other.unicodeScalars)
  }
}

extension ResultsSnapshot {
  fileprivate func json(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("version", version.description)
      json.member("commit", commit)
      members(&json)
    }
    return json.bytes
  }

  /// The records of a page; offsets are counted from the beginning of `range`.
  fileprivate func page(
    _ page: PageParameters, in range: Range<Int>, _ form: RecordForm, _ refresher: Refresher,
    keys: () -> KeyIndex
  ) throws -> RecordPage<RecordSequence> {
    let offsets = page.offsets(in: range, of: self, keys: keys)
    let end = range.lowerBound + offsets.upperBound
    let records = results.records(in: range.lowerBound + offsets.lowerBound..<end)
    try refresher.checkRoom(forText: records.reduce(0) { $0 + $1.byteCount })
    return RecordPage(
      records: records, form: form, offset: offsets.lowerBound, numberOfRecords: range.count,
      next: offsets.isEmpty || end == range.upperBound ? nil : PageToken(after: end, in: self),
      version: version, commit: commit)
  }

  fileprivate func record(at offset: Int, _ arguments: QueryArguments) -> [UInt8] {
    json { json in
      json.indexPath("indexPath", results.indexPath(ofOffset: offset))
      json.keyAndRecord(results[offset], RecordForm(self, arguments))
    }
  }
}
