import FetchedRecords
import HTTP1
import HTTPServer
import HTTPTypes
import OrderedResults

// The bytes of one column.
extension RecordsService {
  /// `GET /v1/queries/{query}/records/{key}/{column}`
  ///
  /// A BLOB or a text as it is, for whoever may read the record.
  func column(_ request: Request, _ responder: Responder) {
    answer(
      request, responder, words: [ColumnAddresses.digest], isLong: Self.isLongSearchForKey
    ) { feed, snapshot, _ in
      let record = snapshot.results[try offset(ofKeyIn: request, feed, snapshot)]
      let content = try ColumnContent(request.parameters["column"], of: record, snapshot)
      guard MediaRanges(request.fields.value(of: .accept)).accept(content.essence) else {
        throw Problem(
          .notAcceptable,
          "The column is \(content.mediaType): name it in Accept, or leave the field out.")
      }
      try refresher.checkRoom(forText: content.bytes.count)
      return Response(
        content.bytes, tag: content.tag(snapshot.digestKey), content.fields, rangeFor: request)
    }
  }
}

/// What a column holds, and what that is.
private struct ColumnContent {
  let bytes: [UInt8]
  let mediaType: String

  init(_ name: String, of record: Record, _ snapshot: ResultsSnapshot) throws(Problem) {
    let layout = snapshot.results.layout
    guard let index = layout.columns.firstIndex(of: name) else {
      let near = NearestWord.find(name, among: layout.columns).map { "did you mean \($0)? " } ?? ""
      throw .notFound(
        "there is no column \(name): \(near)there are \(layout.columns.joined(separator: ", "))")
    }
    let type = layout.types.isEmpty ? nil : layout.types[index]
    switch (record.value(index), type) {
    case (.blob(let bytes), .blob(let mediaType)), (.text(let bytes), .blob(let mediaType)):
      (self.bytes, self.mediaType) = (bytes, mediaType)
    case (.blob(let bytes), _): (self.bytes, mediaType) = (bytes, "application/octet-stream")
    case (.text(let bytes), _): (self.bytes, mediaType) = (bytes, "text/plain; charset=utf-8")
    case (.null, _): throw .notFound("the column \(name) is NULL in this record")
    case (.integer, _), (.real, _):
      throw .notFound("the column \(name) is a number in this record: read the record itself")
    }
  }

  /// The media type without its parameters.
  var essence: String { String(mediaType.prefix { $0 != ";" }) }

  /// Of the bytes and what they are: RFC 9110 §8.8.1.
  func tag(_ key: DigestKey) -> String {
    var digest = bytes.withUnsafeBytes { key.digest(of: $0) }
    digest.append(key.digest(of: mediaType))
    return "\"\(digest.text)\""
  }

  var fields: HTTPFields {
    var fields: HTTPFields = [.contentType: mediaType, .cacheControl: "no-cache"]
    // Whoever may write into the database must not have scripts run as this origin's: a page or an SVG
    // that is opened by itself is a document of nobody's (https://www.w3.org/TR/CSP3/). Of those that
    // are shown by programs of their own, browsers do not open a PDF so.
    if essence.lowercased() != "application/pdf" {
      fields[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    }
    return fields
  }
}
