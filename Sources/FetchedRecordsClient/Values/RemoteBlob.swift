/// Where the bytes of a BLOB are: what a column with the type `{blob: image/png}` has.
public struct RemoteBlob: Decodable, Sendable, Hashable {
  /// Relative to the address of the query; another one when the bytes change.
  public let url: String
  /// How many bytes there are.
  public let bytes: Int

  /// Says where bytes are.
  public init(url: String, bytes: Int) { (self.url, self.bytes) = (url, bytes) }
}
