public import Foundation

extension JSONDecoder {
  /// Decodes records as servers send them: what controllers decode with unless told otherwise.
  ///
  /// | type of the column | in Swift |
  /// |---|---|
  /// | `boolean` | `Bool` |
  /// | `date`, `datetime` | `Date`; days are those of UTC. Or `String`, as it was sent |
  /// | `json` | any `Decodable` |
  /// | BLOB | `Data` |
  /// | `{blob: image/png}` | ``RemoteBlob`` |
  /// | anything | ``RemoteValue`` |
  ///
  /// What is none of its column's type is sent as it is stored, and so is NULL: make properties
  /// optional that may be NULL.
  public static var remoteRecords: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      guard let date = Date(calendarText: text) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "“\(text)” is neither a date nor a time in ISO 8601")
      }
      return date
    }
    decoder.dataDecodingStrategy = .custom { decoder in
      let container = try decoder.container(keyedBy: BlobKey.self)
      guard let bytes = Data(base64Encoded: try container.decode(String.self, forKey: .base64))
      else {
        throw DecodingError.dataCorruptedError(
          forKey: .base64, in: container, debugDescription: "it is not base64")
      }
      return bytes
    }
    return decoder
  }

  private enum BlobKey: CodingKey { case base64 }
}
