package import HTTPTypes

/// An answer.
package struct Response: Sendable {
  /// The status.
  package var status: HTTPResponse.Status

  /// The fields, without those that the server writes: framing, `Connection`, and `Date`.
  package var fields: HTTPFields

  /// The body.
  package var body: Body

  /// What answered; set by the router.
  package internal(set) var route: Route?

  /// What follows the head.
  ///
  /// It is not sent to HEAD, and not with 204 and 304.
  package enum Body: Sendable {
    case none
    case bytes([UInt8])
    case file(FileBody)
    indirect case stream(StreamBody)
  }

  /// An answer.
  package init(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:], body: Body = .none) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}
