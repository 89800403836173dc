import CCurl

/// Requests over one connection that is kept open between them.
final class HTTPClient {
  struct Answer {
    var head: ResponseHead
    var body: [UInt8]

    var status: Int { head.status }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body, which must be JSON.
    var json: JSONValue {
      get throws { try JSONValue(parsing: body) }
    }
  }

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private let base: String
  private let handle = CurlHandle()

  /// - Parameters:
  ///   - base: what stands before each path: `http://127.0.0.1:8080`.
  ///   - socketPath: of the Unix-domain socket at which the server listens, whatever `base` says.
  init(_ base: String, socketPath: String? = nil) {
    self.base = base
    if let socketPath { handle.set(CURLOPT_UNIX_SOCKET_PATH, socketPath) }
    handle.set(CURLOPT_TIMEOUT, Int(patience))
  }

  func get(_ path: String, _ fields: [String] = []) throws -> Answer {
    try send("GET", path, fields)
  }

  func post(_ path: String) throws -> Answer { try send("POST", path) }

  func send(
    _ method: String, _ path: String, _ fields: [String] = [], isHTTP10: Bool = false
  ) throws -> Answer {
    handle.set(CURLOPT_URL, base + path)
    handle.set(CURLOPT_NOBODY, method == "HEAD" ? 1 : 0)
    handle.set(CURLOPT_HTTPGET, method == "GET" ? 1 : 0)
    handle.set(CURLOPT_CUSTOMREQUEST, method)
    handle.set(CURLOPT_HTTP_VERSION, isHTTP10 ? 1 : 0)
    handle.setFields(fields)
    var head = ResponseHead()
    var body: [UInt8] = []
    handle.onHead = { head.append(line: $0) }
    handle.onBody = { bytes in
      body += bytes
      return true
    }
    defer {
      handle.onHead = nil
      handle.onBody = nil
    }
    let code = curl_easy_perform(handle.pointer)
    guard code == CURLE_OK else {
      let reason = String(cString: curl_easy_strerror(code))
      throw Failed(description: "\(method) \(base)\(path): \(reason)")
    }
    return Answer(head: head, body: body)
  }
}
