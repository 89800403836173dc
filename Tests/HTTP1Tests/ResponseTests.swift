import HTTP1
import HTTPTypes
import Testing

private func head(
  _ status: HTTPResponse.Status, _ fields: HTTPFields = [:], _ framing: ResponseFraming,
  connection: StaticString? = nil
) -> String {
  var output: [UInt8] = []
  ResponseSerializer.append(
    status: status, fields: fields, framing: framing, connection: connection,
    date: Array("D".utf8), to: &output)
  return String(decoding: output, as: UTF8.self)
}

@Test func `a head is written with the server's own fields`() {
  #expect(
    head(.ok, [.contentType: "a/b"], .length(1024))
      == "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nX-Content-Type-Options: nosniff\r\nDate: D\r\nContent-Length: 1024\r\n\r\n"
  )
  #expect(
    head(.notFound, [:], .chunked, connection: "close")
      == "HTTP/1.1 404 Not Found\r\nX-Content-Type-Options: nosniff\r\nDate: D\r\nTransfer-Encoding: chunked\r\n"
      + "Connection: close\r\n\r\n")
  #expect(
    head(.noContent, [:], .none)
      == "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nDate: D\r\n\r\n")
}

@Test func `a handler cannot write framing, but a date`() {
  let fields: HTTPFields = [
    .contentLength: "7", .transferEncoding: "gzip", .connection: "upgrade", .date: "then",
    .xContentTypeOptions: "sniff",
  ]
  #expect(
    head(.ok, fields, .length(0))
      == "HTTP/1.1 200 OK\r\nDate: then\r\nX-Content-Type-Options: nosniff\r\n"
      + "Content-Length: 0\r\n\r\n")
}

/// RFC 9110 §15.4.5.
@Test func `a 304 does not say what is in a body`() {
  let fields: HTTPFields = [
    .eTag: "\"a\"", .contentType: "a/b", .contentRange: "bytes 0-1/2", .cacheControl: "no-cache",
  ]
  #expect(
    head(.notModified, fields, .none)
      == "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nCache-Control: no-cache\r\n"
      + "X-Content-Type-Options: nosniff\r\nDate: D\r\n\r\n")
}

@Test func `a field value cannot begin another line`() {
  let head = head(.ok, [.location: "/a\r\nSet-Cookie: b"], .none)
  #expect(head.split(separator: "\r\n").count == 4)
}

@Test(arguments: [(1, "1"), (9, "9"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000")])
func `a chunk has its size in hexadecimal`(count: Int, size: String) {
  var output: [UInt8] = []
  ChunkFraming.append([UInt8](repeating: 97, count: count), to: &output)
  #expect(output.count == count + ChunkFraming.overhead(count))
  #expect(String(decoding: output, as: UTF8.self).hasPrefix(size + "\r\na"))
}

@Test func `nothing is not a chunk`() {
  var output: [UInt8] = []
  ChunkFraming.append([], to: &output)
  #expect(output.isEmpty)
}
