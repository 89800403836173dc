import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import JSON
import OrderedResults
import QueryAnalysis

// Pages of results that are not live.
extension RecordsService {
  /// Answers with a page that is read by itself, where nobody holds the result and an index has its
  /// order.
  ///
  /// - Returns: whether there will be an answer; false: the result has to be live.
  func answerFromPage(
    _ request: Request, _ responder: Responder, _ format: PageFormat
  ) -> Bool {
    do {
      let entry = try entry(named: request.parameters["query"])
      // A page of a later commit than the caller's claims are of would be more than they may see.
      guard caller?.row == nil else { return false }
      let items = try QueryItems(request.query, allowed: PageParameters.words)
      let key = try FeedKey(entry, items, for: caller)
      guard (try? entry.query(with: key.arguments))?.isReadInPages == true else { return false }
      if registry.isLive(key) { return false }
      let (definition, digests) = (entry.definition, refresher.versionKey)
      let response = { @Sendable (page: ResultsPage) in
        let form = RecordForm(page.layout, definition, key.arguments, digests: digests)
        return RecordPage(page, form).response(format, to: request)
      }
      let giveUp = refresher.readPage(
        of: key.query, arguments: key.arguments, try PageParameters(items).range
      ) { result in
        switch result {
        case .success(.betterLive): listLiveRecords(request, responder, format)
        case .success(.page(let page, let isDear)):
          if isDear { registry.warm(key) }
          respond(responder, page, response)
        case .failure(let failure):
          responder.respond(Self.response(to: problem(failure, of: key.query)))
        }
      }
      responder.whenAbandoned(giveUp)
    } catch {
      responder.respond(Self.response(to: error))
    }
    return true
  }

  private func respond(
    _ responder: Responder, _ page: ResultsPage,
    _ response: @escaping @Sendable (ResultsPage) -> Response
  ) {
    let answer = { @Sendable in
      Self.answer {
        try caller?.checkIsKnown()
        try refresher.checkRoom(forText: page.records.reduce(0) { $0 + $1.byteCount })
        return response(page)
      }
    }
    if page.records.count <= PageParameters.quicklyWritten { return responder.respond(answer()) }
    Self.search(answer) { responder.respond($0) }
  }
}

extension RecordPage<[Record]> {
  fileprivate init(_ page: ResultsPage, _ form: RecordForm) {
    let end = page.offset + page.records.count
    let isLast = page.records.isEmpty || end >= page.numberOfRecords
    self.init(
      records: page.records, form: form, offset: page.offset,
      numberOfRecords: page.numberOfRecords, next: isLast ? nil : PageToken(after: page),
      version: page.version, commit: page.commit)
  }
}
