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
    withSnapshot(request, responder) { snapshot, _ in
      snapshot.json { json in
        json.member("numberOfRecords", snapshot.results.count)
        json.sections(of: snapshot.results)
      }
    }
  }

  /// `GET /v1/queries/{query}/sections/{section}`
  func describeSection(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder) { snapshot, _ in
      let index = try sectionIndex(request, in: snapshot.results)
      var json = JSONWriter()
      json.section(snapshot.results.section(at: index), index: index)
      return json.bytes
    }
  }

  /// `GET /v1/queries/{query}/sections/{section}/records`
  func listSectionRecords(_ request: Request, _ responder: Responder) {
    withPage(request, responder) { snapshot in
      let index = try sectionIndex(request, in: snapshot.results)
      let section = snapshot.results.section(at: index)
      return section.offset..<section.offset + section.numberOfRecords
    }
  }

  /// `GET /v1/queries/{query}/sections/{section}/records/{item}`
  func recordAtIndexPath(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder) { snapshot, _ in
      let section = try sectionIndex(request, in: snapshot.results)
      let text = request.parameters["item"]
      let count = snapshot.results.section(at: section).numberOfRecords
      guard let item = Int(text), (0..<count).contains(item) else {
        throw Problem.notFound(
          "there is no record \(text) in section \(section): it has \(count), counted from 0")
      }
      let offset = snapshot.results.offset(of: IndexPath(section: section, item: item))
      try refresher.checkRoom(forText: snapshot.results[offset].byteCount)
      return snapshot.record(at: offset)
    }
  }

  /// `GET /v1/queries/{query}/records`
  func listRecords(_ request: Request, _ responder: Responder) {
    if let response = rememberedPage(request) { return responder.respond(response) }
    if answerFromPage(request, responder) { return }
    listLiveRecords(request, responder)
  }

  /// The same of a live result, which it becomes.
  func listLiveRecords(_ request: Request, _ responder: Responder) {
    withPage(request, responder) { snapshot in 0..<snapshot.results.count }
  }

  private func withPage(
    _ request: Request, _ responder: Responder,
    _ range: @escaping @Sendable (ResultsSnapshot) throws -> Range<Int>
  ) {
    withSnapshot(
      request, responder, words: PageParameters.words,
      isSearch: { _, snapshot, items in
        (try? PageParameters(items))?.isSearch(in: snapshot) ?? false
      },
      { [registry] feed, snapshot, items in
        try snapshot.page(
          try PageParameters(items), in: try range(snapshot), registry.refresher
        ) { feed.keys(of: snapshot) }
      })
  }

  /// `GET /v1/queries/{query}/records/{key}`
  func recordByKey(_ request: Request, _ responder: Responder) {
    let encoded = request.parameters.encoded("key")
    let isSearch: @Sendable (Feed, ResultsSnapshot, QueryItems) -> Bool = { feed, snapshot, _ in
      !feed.knowsKeys(of: snapshot)
    }
    withSnapshot(request, responder, isSearch: isSearch) { feed, snapshot, _ in
      guard let offset = KeyText(encoded).offset(in: feed.keys(of: snapshot)) else {
        let names = snapshot.results.layout.keyNames
        let form =
          names.isEmpty
          ? "the query has no key; use an index path" : "the key is \(names.joined(separator: ","))"
        throw Problem.notFound("there is no record with the key \(encoded): \(form)")
      }
      try refresher.checkRoom(forText: snapshot.results[offset].byteCount)
      return snapshot.record(at: offset)
    }
  }

  /// `GET /v1/queries/{query}/sectionIndexTitles`
  func listSectionIndexTitles(_ request: Request, _ responder: Responder) {
    withSnapshot(request, responder) { snapshot, _ in
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
    withSnapshot(request, responder) { snapshot, _ in
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
    guard let index = Int(text), (0..<results.numberOfSections).contains(index) else {
      throw Problem.notFound(
        "there is no section \(text): there are \(results.numberOfSections), counted from 0")
    }
    return index
  }
}

extension JSONWriter {
  /// The members of a page.
  mutating func page(
    _ records: some Sequence<Record>, _ layout: RecordLayout, offset: Int, of count: Int,
    next: PageToken?
  ) {
    member("numberOfRecords", count)
    member("offset", offset)
    array("records") { json in
      for record in records { json.object { $0.keyAndRecord(record, layout: layout) } }
    }
    member("next", next?.text)
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
    _ page: PageParameters, in range: Range<Int>, _ refresher: Refresher, keys: () -> KeyIndex
  ) throws -> [UInt8] {
    let offsets = page.offsets(in: range, of: self, keys: keys)
    let end = range.lowerBound + offsets.upperBound
    let size = results.records(in: range.lowerBound + offsets.lowerBound..<end)
      .reduce(0) { $0 + $1.byteCount }
    try refresher.checkRoom(forText: size)
    return json { json in
      json.page(
        results.records(in: range.lowerBound + offsets.lowerBound..<end), results.layout,
        offset: offsets.lowerBound, of: range.count,
        next: offsets.isEmpty || end == range.upperBound
          ? nil : PageToken(after: end, in: self))
    }
  }

  fileprivate func record(at offset: Int) -> [UInt8] {
    json { json in
      json.indexPath("indexPath", results.indexPath(ofOffset: offset))
      json.keyAndRecord(results[offset], layout: results.layout)
    }
  }
}
