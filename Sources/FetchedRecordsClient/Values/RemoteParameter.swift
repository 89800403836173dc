public import Foundation

/// What can be the value of a query's parameter: texts, numbers, bytes and optionals of these.
public protocol RemoteParameter: Sendable {
  /// As it stands in a URL, before it is percent-encoded; nil: the parameter is left out.
  var queryText: String? { get }
}

extension String: RemoteParameter {
  /// Itself.
  public var queryText: String? { self }
}

extension Int: RemoteParameter {
  /// In decimal digits.
  public var queryText: String? { description }
}

extension Int64: RemoteParameter {
  /// In decimal digits.
  public var queryText: String? { description }
}

extension Double: RemoteParameter {
  /// The shortest text that reads back as the same number.
  public var queryText: String? { description }
}

extension Bool: RemoteParameter {
  /// 1 or 0, as SQLite has it.
  public var queryText: String? { self ? "1" : "0" }
}

extension Data: RemoteParameter {
  /// In base64.
  public var queryText: String? { base64EncodedString() }
}

extension Optional: RemoteParameter where Wrapped: RemoteParameter {
  /// nil leaves the parameter out.
  public var queryText: String? { flatMap(\.queryText) }
}
