import CCurl

/// One transfer with libcurl: a client that is not ours.
struct Curl {
  var method: String?
  var headers: [String] = []
  var body: [UInt8]?
  var isHTTP10 = false
  var isHead = false
  /// Of the Unix-domain socket at which the server listens, whatever the URL says.
  var socketPath: String?

  struct Answer {
    var code: UInt32
    var status: Int
    var head: String
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private final class Sink {
    var bytes: [UInt8] = []
  }

  func fetch(_ url: String) -> Answer {
    let handle = curl_easy_init()
    defer { curl_easy_cleanup(handle) }
    let (head, content) = (Sink(), Sink())
    _ = curl_set_string(handle, CURLOPT_URL, url)
    _ = curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    _ = curl_set_long(handle, CURLOPT_TIMEOUT, 20)
    _ = curl_set_string(handle, CURLOPT_NOPROXY, "*")
    if isHTTP10 { _ = curl_set_long(handle, CURLOPT_HTTP_VERSION, 1) }
    if isHead { _ = curl_set_long(handle, CURLOPT_NOBODY, 1) }
    if let socketPath { _ = curl_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, socketPath) }
    if let method { _ = curl_set_string(handle, CURLOPT_CUSTOMREQUEST, method) }
    receive(handle, CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, head)
    receive(handle, CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, content)
    var list: UnsafeMutablePointer<curl_slist>?
    for header in headers { list = curl_slist_append(list, header) }
    defer { curl_slist_free_all(list) }
    _ = curl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
    let code = withBody(handle) { curl_easy_perform(handle) }
    var status = 0
    _ = curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    return Answer(
      code: code.rawValue, status: status, head: String(decoding: head.bytes, as: UTF8.self),
      body: content.bytes)
  }

  private func withBody(_ handle: UnsafeMutableRawPointer?, _ perform: () -> CURLcode) -> CURLcode {
    guard var body else { return perform() }
    _ = curl_set_long(handle, CURLOPT_POST, 1)
    _ = curl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
    return body.withUnsafeMutableBytes { bytes in
      // The bytes live until the transfer is over.
      _ = curl_set_pointer(handle, CURLOPT_POSTFIELDS, bytes.baseAddress)
      return perform()
    }
  }

  /// The sink outlives the transfer, which is over before `fetch` returns.
  private func receive(
    _ handle: UnsafeMutableRawPointer?, _ function: CURLoption, _ data: CURLoption, _ sink: Sink
  ) {
    _ = curl_set_callback(handle, function) { bytes, size, count, sink in
      guard let bytes, let sink else { return 0 }
      Unmanaged<Sink>.fromOpaque(sink).takeUnretainedValue().bytes +=
        UnsafeRawBufferPointer(start: bytes, count: size * count)
      return size * count
    }
    _ = curl_set_pointer(handle, data, Unmanaged.passUnretained(sink).toOpaque())
  }
}
