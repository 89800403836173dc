import Foundation
import Testing

@testable import FetchedRecordsClient

@Suite struct `An address` {
  @Test(arguments: [
    ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"), ("https://example.org", "example.org"),
    ("http://[::1]:8080/v1", "[::1]:8080"), ("http://[fe80::1]/", "[fe80::1]"),
  ])
  func `says whom it asks`(text: String, authority: String) throws {
    #expect(try #require(URL(string: text)).authority == authority)
  }

  @Test(arguments: [
    "http://127.0.0.1:8080/v1?a=%2B&b=c+d#x", "https://user:word@example.org/a%2Fb?%5B::1%5D",
    "http://b%C3%BCcher.example/", "http://example.org",
  ])
  func `is asked for as it is`(text: String) throws {
    #expect(try #require(URL(string: text)).asked.absoluteString == text)
  }

  @Test func `is asked for with a scheme in lower case`() throws {
    let url = try #require(URL(string: "HTTPS://Example.org/A?B"))
    #expect(url.asked.absoluteString == "https://Example.org/A?B")
  }

  #if canImport(FoundationNetworking)
    @Test func `of IPv6 has percent-encoded brackets, once`() throws {
      let url = try #require(URL(string: "http://[::1]:8080/a%2Fb?c=%5B"))
      #expect(url.asked.absoluteString == "http://%5B%3A%3A1%5D:8080/a%2Fb?c=%5B")
      #expect(url.asked.asked == url.asked)
    }
  #endif
}
