import HTTP1
import Testing

@Test(arguments: [
  // RFC 9112 §6.3, RFC 9110 §8.6
  (["Content-Length: 1", "Content-Length: 1"], RequestError.repeatedContentLength),
  (["Content-Length: 1", "Content-Length: 2"], .repeatedContentLength),
  (["Content-Length: 1, 1"], .invalidContentLength),
  (["Content-Length: +1"], .invalidContentLength),
  (["Content-Length: -1"], .invalidContentLength),
  (["Content-Length: 0x1"], .invalidContentLength),
  (["Content-Length: 1 1"], .invalidContentLength),
  (["Content-Length:"], .invalidContentLength),
  (["Content-Length: 99999999999999999999"], .bodyTooLarge),
  (["Content-Length: 1048577"], .bodyTooLarge),
  // RFC 9112 §6.1
  (["Content-Length: 1", "Transfer-Encoding: chunked"], .contentLengthWithTransferEncoding),
  (["Transfer-Encoding: chunked", "Content-Length: 1"], .contentLengthWithTransferEncoding),
  (["Transfer-Encoding: gzip, chunked"], .unknownTransferCoding),
  (["Transfer-Encoding: gzip"], .chunkedNotLast),
  (["Transfer-Encoding: chunked, gzip"], .chunkedNotLast),
  (["Transfer-Encoding: chunked, chunked"], .chunkedNotLast),
  (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], .chunkedNotLast),
  (["Transfer-Encoding: chunked;a=b"], .chunkedNotLast),
  (["Transfer-Encoding: xchunked"], .chunkedNotLast),
  (["Transfer-Encoding: \u{b}chunked"], .controlCharacter),
  (["Transfer-Encoding:"], .invalidTransferEncoding),
  (["Transfer-Encoding : chunked"], .whitespaceBeforeColon),
]) func `framing that two readers could understand in two ways is refused`(
  fields: [String], error: RequestError
) {
  let head = (["POST / HTTP/1.1", "Host: a"] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
  #expect(readThreeWays(head + "0\r\n\r\n").error == error)
}

@Test func `HTTP 1_0 has no Transfer-Encoding`() {
  let outcome = readThreeWays(request("POST / HTTP/1.0", "Transfer-Encoding: chunked"))
  #expect(outcome.error == .transferEncodingInHTTP10)
}

@Test func `a body of a length is read`() {
  let outcome = readThreeWays(request("POST / HTTP/1.1", "content-length: 5", body: "hello"))
  #expect(outcome.isComplete)
  #expect(outcome.bodySize == 5)
}

@Test func `an incomplete body is waited for`() {
  let outcome = readThreeWays(request("POST / HTTP/1.1", "Content-Length: 5", body: "hell"))
  #expect(!outcome.isComplete)
  #expect(outcome.error == nil)
}

private func chunked(_ body: String, limits: MessageLimits = MessageLimits()) -> Outcome {
  readThreeWays(
    request("POST / HTTP/1.1", "Transfer-Encoding: Chunked", body: body), limits: limits)
}

@Test func `a chunked body is read, its extensions and trailers dropped`() {
  let outcome = chunked(
    "5;a=\"b c\"\r\nhello\r\n00A;x\r\n, world wi\r\n2\r\nde\r\n0\r\nA: b\r\n\r\n")
  #expect(outcome.error == nil)
  #expect(outcome.isComplete)
  #expect(outcome.bodySize == 17)
  #expect(outcome.fields.count == 2)
}

@Test(arguments: [
  ("\r\n", RequestError.invalidChunkSize),
  ("x\r\n", .invalidChunkSize),
  ("5 \r\nhello\r\n", .invalidChunkSize),
  ("-1\r\n", .invalidChunkSize),
  ("0x5\r\nhello\r\n", .invalidChunkSize),
  ("FFFFFFFFFFFFFFFF\r\n", .invalidChunkSize),
  ("FFFFFFFF\r\n", .bodyTooLarge),
  ("5\nhello", .invalidChunkSize),
  ("5\r\r\nhello\r\n", .bareCarriageReturn),
  ("5;a\nhello\r\n", .invalidChunkExtension),
  ("5;a\u{0}\r\nhello\r\n", .invalidChunkExtension),
  ("5\r\nhello!\r\n", .missingChunkEnd),
  ("5\r\nhello\r!", .bareCarriageReturn),
  ("5\r\nhello\n", .missingChunkEnd),
  ("0\r\nA : b\r\n\r\n", .whitespaceBeforeColon),
  ("0\r\n A: b\r\n\r\n", .foldedField),
  ("0\r\nA: b\n\r\n", .bareLineFeed),
]) func `a malformed chunked body is refused`(body: String, error: RequestError) {
  #expect(chunked(body).error == error)
}

/// RFC 9112 §7.1.1, RFC 9110 §5.6.4.
@Test(arguments: [
  "a", "a=b", "a;b", "a=b;c", "a=\"\"", "a=\"b c\"", "a=\"\\\"\\\\;=\"", "a=\"\t\u{e9}\";b", " a",
  "\ta = b ;c",
  "a ;b", "a= \"b\" ; c", "!#$%&'*+-.^_`|~1=~",
]) func `a chunk extension is read over`(text: String) {
  let outcome = chunked("5;\(text)\r\nhello\r\n0;\(text)\r\n\r\n")
  #expect(outcome.isComplete)
  #expect(outcome.bodySize == 5)
}

@Test(arguments: [
  "", " ", "=", "=x", ";", "a;", "a;;b", "a; ", "a=", "a= ", "a=;b", "a==b", "a=b=c", "a b",
  "a=b c", "a ", "a=b ",
  "bad[=x", "a=[", "a=\"b", "a=\"b\\", "a=\"b\\\"", "a=\"b\"c", "a=\"b\"\"c\"", "\"a\"", "\u{80}",
  "a\u{e9}",
  "a=\u{e9}", "a=\"\u{7f}\"", "a=\"\u{1}\"", "a=\"\\\u{0}\"", "a,b",
]) func `what is no chunk extension is refused`(text: String) {
  #expect(chunked("5;\(text)\r\nhello\r\n0\r\n\r\n").error == .invalidChunkExtension)
}

@Test func `chunk extensions, trailers and the sum of the chunks are bounded`() {
  var limits = MessageLimits()
  limits.chunkExtensionSize = 10
  limits.trailerSize = 20
  limits.bodySize = 8
  #expect(
    chunked("1;aaaa\r\na\r\n1;aaaa\r\na\r\n0;aaaa\r\n\r\n", limits: limits).error
      == .chunkExtensionsTooLarge)
  #expect(
    chunked("0\r\nA: bbbbbbbbbbbbbbbbbbbb\r\n\r\n", limits: limits).error == .trailersTooLarge)
  #expect(chunked("8\r\naaaaaaaa\r\n0\r\n\r\n", limits: limits).isComplete)
  #expect(chunked("5\r\naaaaa\r\n4\r\naaaa\r\n0\r\n\r\n", limits: limits).error == .bodyTooLarge)
}
