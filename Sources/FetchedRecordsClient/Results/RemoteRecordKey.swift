/// What identifies a record between two results: the JSON array of its key columns' values.
public struct RemoteRecordKey: Sendable, Hashable, CustomStringConvertible {
  /// The array as the server wrote it, such as `[7]`.
  public let json: String

  /// The key of an array as a server writes it: without space.
  public init(json: String) { self.json = json }

  /// The values of the key's columns.
  public var values: [RemoteValue] { RawJSON(json).elements().map(RemoteValue.init) }

  /// The array as the server wrote it.
  public var description: String { json }

  /// nil: the query has no key.
  init?(_ json: RawJSON?) {
    guard let json, !json.isNull else { return nil }
    self.json = json.text
  }
}
