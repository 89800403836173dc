import HTTP1
package import HTTPTypes

package struct Response: Sendable {
  package var status: HTTPResponse.Status

  /// The fields, without those that the server writes: framing, `Connection`, and `Date`.
  package var fields: HTTPFields

  package var body: Body

  /// Who asked, by a name that an access log may have; nil: that is not known.
  package var caller: String?

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

  package init(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:], body: Body = .none) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}

extension Response {
  /// All of an answer whose body is bytes, on a connection that ends with it.
  func bytesOfLast(date: [UInt8]) -> [UInt8] {
    var content: [UInt8] = []
    if case .bytes(let bytes) = body { content = bytes }
    var output: [UInt8] = []
    ResponseSerializer.append(
      status: status, fields: fields, framing: .length(content.count), connection: "close",
      date: date, to: &output)
    return output + content
  }
}
