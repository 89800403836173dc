/// A response as it came over a socket.
struct RawResponse {
  var status: Int
  /// Names in lower case.
  var fields: [(name: String, value: String)]
  var body: [UInt8] = []

  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  var text: String { String(decoding: body, as: UTF8.self) }
}

extension RawClient {
  /// Reads one response.
  ///
  /// To HEAD there is no body, whatever the fields say.
  func readResponse(isHead: Bool = false) throws -> RawResponse {
    var response = try readHead()
    if isHead || [204, 304].contains(response.status) || response.status < 200 { return response }
    if response["transfer-encoding"] == "chunked" {
      while let chunk = try readChunk() { response.body += chunk }
    } else if let length = response["content-length"].flatMap({ Int($0) }) {
      response.body = try read(count: length)
    } else {
      response.body = Array(try readToEnd().utf8)
    }
    return response
  }

  func readHead() throws -> RawResponse {
    let lines = try read(through: "\r\n\r\n").split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
      throw Failure(description: "not a status line: \(lines[0])")
    }
    let fields = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (name: parts[0].lowercased(), value: String(parts[1].dropFirst()))
    }
    return RawResponse(status: status, fields: fields)
  }

  /// The next chunk, or nil at the end of the body.
  func readChunk() throws -> [UInt8]? {
    let line = try read(through: "\r\n").dropLast(1)
    guard let size = Int(line, radix: 16) else { throw Failure(description: "no size: \(line)") }
    let chunk = try read(count: size)
    guard try read(count: 2) == Array("\r\n".utf8) else { throw Failure(description: "no CRLF") }
    return size == 0 ? nil : chunk
  }

  /// Sends a GET and reads the response.
  func get(_ path: String, _ fields: String...) throws -> RawResponse {
    try send(
      (["GET \(path) HTTP/1.1", "Host: a"] + fields).map { $0 + "\r\n" }.joined() + "\r\n")
    return try readResponse()
  }
}
