import CCurl
import Foundation

/// A libcurl easy handle, with what all of this target's requests have in common.
///
/// One thread at a time uses it.
final class CurlHandle {
  let pointer: UnsafeMutableRawPointer
  /// Where a stream's bytes go.
  weak var inbox: Inbox?
  /// Whose transfer it is, where that is somebody who has several, one after the other.
  weak var owner: AnyObject?
  private var fieldList: UnsafeMutablePointer<curl_slist>?
  var onHead: ((UnsafeRawBufferPointer) -> Void)?
  /// Returns whether the transfer goes on.
  var onBody: ((UnsafeRawBufferPointer) -> Bool)?

  init() {
    _ = Self.globalInit
    guard let pointer = curl_easy_init() else { preconditionFailure("libcurl has no memory") }
    self.pointer = pointer
    _ = curl_set_long(pointer, CURLOPT_NOSIGNAL, 1)
    _ = curl_set_long(pointer, CURLOPT_PATH_AS_IS, 1)
    _ = curl_set_string(pointer, CURLOPT_NOPROXY, "*")
    let me = Unmanaged.passUnretained(self).toOpaque()
    _ = curl_set_pointer(pointer, CURLOPT_HEADERDATA, me)
    _ = curl_set_pointer(pointer, CURLOPT_WRITEDATA, me)
    // This object owns the handle, and so lives as long as any transfer of it.
    _ = curl_set_callback(pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, me in
      guard let bytes, let me else { return 0 }
      let handle = Unmanaged<CurlHandle>.fromOpaque(me).takeUnretainedValue()
      handle.onHead?(UnsafeRawBufferPointer(start: bytes, count: size * count))
      return size * count
    }
    _ = curl_set_callback(pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
      guard let bytes, let me else { return 0 }
      let handle = Unmanaged<CurlHandle>.fromOpaque(me).takeUnretainedValue()
      let goesOn = handle.onBody?(UnsafeRawBufferPointer(start: bytes, count: size * count))
      return goesOn == false ? Int(CURL_WRITEFUNC_PAUSE) : size * count
    }
  }

  deinit {
    curl_easy_cleanup(pointer)
    curl_slist_free_all(fieldList)
  }

  // libcurl's own initialisation is safe from any thread only since 7.84, and if it was built so.
  private static let globalInit = curl_global_init(Int(CURL_GLOBAL_ALL))

  func set(_ option: CURLoption, _ value: Int) { _ = curl_set_long(pointer, option, value) }

  func set(_ option: CURLoption, _ value: String?) {
    _ = curl_set_string(pointer, option, value)
  }

  /// Request header fields, each as `Name: value`.
  func setFields(_ fields: [String]) {
    curl_slist_free_all(fieldList)
    fieldList = nil
    for field in fields { fieldList = curl_slist_append(fieldList, field) }
    _ = curl_set_pointer(pointer, CURLOPT_HTTPHEADER, fieldList)
  }
}

/// A response's status and fields, as libcurl hands them over: a line at a time.
struct ResponseHead: Sendable {
  private(set) var status = 0
  private(set) var statusLine = ""
  private(set) var fields: [(name: String, value: String)] = []
  private(set) var isComplete = false

  /// The value of a field that stands at most once; names are compared without case.
  subscript(name: String) -> String? {
    let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: " AND ")
  }

  mutating func append(line bytes: UnsafeRawBufferPointer) {
    // Its line feed and what comes before it end a line (RFC 9112 §2.2).
    let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
    let line = String(decoding: bytes[..<end], as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      self = ResponseHead()
      statusLine = line
      status = Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
    } else if line.isEmpty {
      isComplete = true
    } else if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      fields.append((String(line[..<colon]), String(value)))
    }
  }
}
