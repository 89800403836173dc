import HTTP1
import HTTPTypes
import Testing

/// What reading one request came to.
struct Outcome: Equatable {
  var method: String?
  var target: String?
  var path: [String] = []
  var fields: [String] = []
  var framing: BodyFraming?
  var bodySize = 0
  var isComplete = false
  var keepsAlive: Bool?
  var expectsContinue: Bool?
  var isConditional: Bool?
  /// Also where the request is refused: whether it was a HEAD.
  var isHead = false
  var problem: RequestError?
  var error: RequestError?
  /// What was left after the request.
  var rest: [UInt8] = []
}

/// Reads one request from bytes that come in pieces.
func read(pieces: [[UInt8]], limits: MessageLimits = MessageLimits()) -> Outcome {
  var outcome = Outcome()
  var parser = RequestHeadParser(limits: limits)
  var decoder: BodyDecoder?
  var buffer: [UInt8] = []
  var offset = 0
  do throws(RequestError) {
    for piece in pieces {
      buffer += piece
      if outcome.isComplete { continue }
      offset = 0
      if decoder == nil, let head = try parser.parse(buffer.span, from: &offset) {
        outcome.take(head)
        decoder = BodyDecoder(framing: head.framing, limits: limits)
      }
      outcome.isComplete = try decoder?.decode(buffer.span, from: &offset) ?? false
      buffer.removeFirst(offset)
    }
  } catch {
    outcome.error = error
    outcome.bodySize = decoder?.size ?? 0
    if decoder == nil { outcome.isHead = parser.isHead(buffer.span, from: offset) }
    return outcome
  }
  outcome.bodySize = decoder?.size ?? 0
  outcome.rest = buffer
  return outcome
}

extension Outcome {
  fileprivate mutating func take(_ head: RequestHead) {
    method = head.method.rawValue
    target = head.target.text
    path = head.target.path
    fields = head.fields.map { "\($0.name.rawName): \($0.value)" }
    framing = head.framing
    keepsAlive = head.keepsAlive
    expectsContinue = head.expectsContinue
    isConditional = head.isConditional
    isHead = head.method == .head
    problem = head.problem
  }
}

/// Reads a request whole, byte by byte, and with bytes behind it, and expects the same each time.
func readThreeWays(
  _ text: String, limits: MessageLimits = MessageLimits(),
  sourceLocation: SourceLocation = #_sourceLocation
) -> Outcome {
  let bytes = Array(text.utf8)
  let whole = read(pieces: [bytes], limits: limits)
  let byteByByte = read(pieces: bytes.map { [$0] }, limits: limits)
  #expect(whole == byteByByte, "byte by byte", sourceLocation: sourceLocation)
  if whole.isComplete {
    let trailing = Array("GET /next HTTP/1.1\r\n".utf8)
    var expected = whole
    expected.rest += trailing
    let withTrailing = read(pieces: [bytes + trailing], limits: limits)
    #expect(withTrailing == expected, "with trailing bytes", sourceLocation: sourceLocation)
  }
  return whole
}

/// A head with these lines after `Host`.
func request(
  _ line: String = "GET / HTTP/1.1", _ fields: String..., host: String? = "Host: a",
  body: String = ""
) -> String {
  ([line] + [host].compactMap(\.self) + fields).map { $0 + "\r\n" }.joined() + "\r\n" + body
}
