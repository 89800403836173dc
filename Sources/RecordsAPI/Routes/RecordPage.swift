import FetchedRecords
import HTTP1
import HTTPServer
import HTTPTypes
import JSON
import OrderedResults

/// A page of records, to be written in one of the formats.
struct RecordPage<Records: Sequence<Record>> {
  let records: Records
  let form: RecordForm
  /// Of the first record.
  let offset: Int
  /// Of the whole.
  let numberOfRecords: Int
  /// Where the next page begins, if there is one.
  let next: PageToken?
  let version: ResultsVersion
  let commit: Int

  func response(_ format: PageFormat, to request: Request) -> Response {
    var response: Response
    switch format {
    case .json: response = Response(json: json, version: version)
    case .csv:
      let table = CSVTable(records, form)
      response = Response(
        .ok,
        [
          .contentType: "text/csv; charset=utf-8; header=present", .cacheControl: "no-cache",
          // Two formats are two representations: RFC 9110 §8.8.3.3.
          .eTag: "\"\(version.state)-csv\"",
        ], body: .bytes(table.bytes))
      if let next { response.fields[.link] = "<\(request.reference(to: next))>; rel=\"next\"" }
    }
    response.fields[.vary] = "Accept"
    return response
  }

  private var json: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("version", version.description)
      json.member("commit", commit)
      json.member("numberOfRecords", numberOfRecords)
      json.member("offset", offset)
      json.array("records") { json in
        var (count, bytes, pulse) = (0, 0, ProcessorPulse())
        for record in records {
          json.object { $0.keyAndRecord(record, form) }
          count += 1
          bytes += record.byteCount
          if count % Self.recordsOfPulse > 0 { continue }
          pulse.giveWay()
          if count == Self.recordsOfPulse {
            reserve(in: &json, besideEach: (json.bytes.count - bytes) / count)
          }
        }
      }
      json.member("next", next?.text)
    }
    return json.bytes
  }

  /// After so many records others have the processor first, if it is time to: to look at the clock takes as long as to
  /// write a short value.
  private static var recordsOfPulse: Int { 32 }

  /// Makes room for all records, so that what is written is not copied as it grows. O(r), r records.
  ///
  /// - Parameters:
  ///   - json: has the first of them.
  ///   - others: the bytes that were written for one of these beside its values.
  private func reserve(in json: inout JSONWriter, besideEach others: Int) {
    json.reserve(records.reduce(0) { $0 + $1.byteCount + max(0, others) })
  }
}

/// The formats in which a page of records can be sent.
enum PageFormat: String, CaseIterable {
  case json = "application/json"
  /// RFC 4180.
  case csv = "text/csv"

  /// What a request would rather have; of two that are as welcome, JSON.
  init(_ request: Request) {
    let ranges = MediaRanges(request.fields.value(of: .accept))
    let isTable =
      ranges.quality(of: Self.csv.rawValue) > ranges.quality(of: Self.json.rawValue)
    self = isTable ? .csv : .json
  }
}

extension Request {
  /// Another page of the same, relative to this one: RFC 8288 §3.1.
  fileprivate func reference(to next: PageToken) -> String {
    let others = query.filter { $0.name != "after" && $0.name != "offset" }.map { item in
      let name = PercentEncoding.encoded(item.name)
      return item.value.map { "\(name)=\(PercentEncoding.encoded($0))" } ?? name
    }
    return "?" + (others + ["after=\(PercentEncoding.encoded(next.text))"]).joined(separator: "&")
  }
}

extension HTTPField.Name {
  fileprivate static let link = HTTPField.Name("Link")!
}
