import HTTPTypes
import Testing

@testable import HTTPServer

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

private let proxies = ["127.0.0.1", "10.0.0.0/8", "2001:db8::/32", "unix"].compactMap {
  AddressRange($0)
}

/// What is believed of these lines when they come from an address.
private func forwarding(_ lines: [(String, String)], from peer: String = "127.0.0.1") -> Forwarding?
{
  var fields = HTTPFields()
  for (name, value) in lines {
    guard let name = HTTPField.Name(name) else { continue }
    fields.append(HTTPField(name: name, value: value))
  }
  guard let address = SocketAddress(text: peer) else { return nil }
  return Forwarding(fields, peer: address, trusting: proxies)
}

@Test(arguments: [
  ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
  ("192.168.1.7", "192.168.1.7", true), ("192.168.1.7", "192.168.1.8", false),
  ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "2001:db8::1", false),
  ("::/0", "8.8.8.8", true), ("2001:db8::/33", "2001:db8:7fff::1", true),
  ("2001:db8::/33", "2001:db8:8000::1", false), ("::1/128", "::1", true),
  ("192.168.0.0/31", "192.168.0.1", true), ("192.168.0.0/31", "192.168.0.2", false),
])
func `a range holds the addresses with its beginning`(
  range: String, address: String, isIn: Bool
) throws {
  let range = try #require(AddressRange(range))
  #expect(range.contains(try #require(IPAddress(address))) == isIn)
  #expect(range.contains(try #require(SocketAddress(text: address))) == isIn)
  #expect(!range.contains(SocketAddress()))
}

@Test(arguments: ["", "10", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/", "host", "::1/x"])
func `what is no range is none`(text: String) { #expect(AddressRange(text) == nil) }

@Test func `only proxies that are configured are believed`() {
  let lines = [
    ("X-Forwarded-For", "192.0.2.7"), ("X-Forwarded-Proto", "https"),
    ("Forwarded", "for=192.0.2.7;proto=https;host=\"example.org:8443\""),
    ("X-Forwarded-Prefix", "/music"),
  ]
  #expect(forwarding(lines, from: "192.0.2.1") == nil)
  let believed = forwarding(lines)
  #expect(believed?.client == "192.0.2.7")
  #expect(believed?.scheme == "https")
  #expect(believed?.host == "example.org:8443")
  #expect(forwarding([("X-Forwarded-Host", "example.org")])?.host == "example.org")
  #expect(believed?.prefix == "/music")
  var unix = HTTPFields()
  unix[HTTPField.Name("X-Forwarded-For")!] = "192.0.2.7"
  #expect(Forwarding(unix, peer: SocketAddress(), trusting: proxies)?.client == "192.0.2.7")
  #expect(Forwarding(unix, peer: SocketAddress(), trusting: []) == nil)
}

/// Whatever stands before the nearest address that is no proxy was written by whoever sent it.
@Test(arguments: [
  ("192.0.2.7", "192.0.2.7"), ("1.1.1.1, 192.0.2.7", "192.0.2.7"),
  ("1.1.1.1, 192.0.2.7, 10.1.1.1, 10.2.2.2", "192.0.2.7"), ("10.1.1.1", "10.1.1.1"),
  ("192.0.2.7:1234", "192.0.2.7"), ("[2001:db9::7]:80", "2001:db9::7"),
  ("nonsense", "127.0.0.1"), ("nonsense, 10.1.1.1", "10.1.1.1"), ("", "127.0.0.1"),
  // To Swift the comma is a part of these letters, which whoever asks can write.
  ("1.1.1.1:\u{600}, 192.0.2.7", "192.0.2.7"), ("x\u{600}, 192.0.2.7", "192.0.2.7"),
  ("[2001:db9::1]\u{600}, 192.0.2.7", "192.0.2.7"),
  ("192.0.2.7,\u{301} 10.1.1.1", "127.0.0.1"),
])
func `the client is the last that is no proxy`(field: String, client: String) {
  #expect(forwarding([("X-Forwarded-For", field)])?.client == client)
}

@Test(arguments: [
  ("for=192.0.2.43", "192.0.2.43", "http"),
  (#"For="[2001:db9:cafe::17]:4711";proto=https"#, "2001:db9:cafe::17", "https"),
  ("for=9.9.9.9, for=192.0.2.60;proto=https;by=203.0.113.43, for=10.0.0.1", "192.0.2.60", "https"),
  (#"for="_hidden";proto="HTTPS", for=10.0.0.1"#, "_hidden", "https"),
  (#"for=unknown"#, "unknown", "http"),
  (#"for="a,b;for=1.1.1.1", for=192.0.2.1"#, "192.0.2.1", "http"),
  (#"for="\"",for=192.0.2.2"#, "192.0.2.2", "http"), ("proto=ftp", "127.0.0.1", "http"),
  (#"for="192.0.2.3"#, "127.0.0.1", "http"),
  // What stands before the last element was written by anybody.
  (#"for=1.1.1.1;x=", for=192.0.2.4"#, "192.0.2.4", "http"),
  (#"for=1.1.1.1;x=", for="[2001:db9::1]:80""#, "2001:db9::1", "http"),
  (#"for=1.1.1.1;x="\, for="192.0.2.5""#, "192.0.2.5", "http"),
  ("for=1.1.1.1;x=\u{600}, for=192.0.2.6", "192.0.2.6", "http"),
])
func `the standard field is read`(field: String, client: String, scheme: String) {
  let forwarding = forwarding([("Forwarded", field), ("X-Forwarded-For", "5.5.5.5")])
  #expect(forwarding?.client == client)
  #expect(forwarding?.scheme == scheme)
}

@Test(arguments: [
  ("/a/b", "/a/b"), ("/a/", "/a"), ("/", ""), ("", ""), ("//evil.example", ""), ("a", ""),
  ("/a b", ""), ("/a\"", ""), ("/a?b", ""), ("https://evil.example", ""),
  ("/" + String(repeating: "a", count: 300), ""),
])
func `a prefix is a path or nothing`(field: String, prefix: String) {
  #expect(forwarding([("X-Forwarded-Prefix", field)])?.prefix == prefix)
}

@Test func `a request from a proxy has the client's address`() throws {
  try withServer(
    configure: { $0.trustedProxies = proxies },
    handler: { request, responder in
      responder.respond(
        .ok, body: .text("\(request.client) \(request.scheme) \(request.prefix)"))
    }
  ) { server in
    let client = try RawClient(port: server.port)
    #expect(try client.get("/").text == "127.0.0.1 http ")
    let forwarded = try client.get(
      "/", "Forwarded: for=192.0.2.1;proto=https", "X-Forwarded-Prefix: /p")
    #expect(forwarded.text == "192.0.2.1 https /p")
  }
}

extension SocketAddress {
  /// An address as people write it.
  init?(text: String) {
    self.init()
    if text.contains(":") {
      storage.sin6_family = sa_family_t(AF_INET6)
      guard inet_pton(AF_INET6, text, &storage.sin6_addr) == 1 else { return nil }
    } else {
      var address = in_addr()
      guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
      storage.sin6_family = sa_family_t(AF_INET)
      withUnsafeMutableBytes(of: &storage) {
        $0.storeBytes(of: address.s_addr, toByteOffset: 4, as: UInt32.self)
      }
    }
    length = UInt32(MemoryLayout<sockaddr_in6>.size)
  }
}
