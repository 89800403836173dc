import Foundation
import Testing

@testable import FetchedRecordsClient

@Suite struct `A value as it is sent` {
  static let values: [(json: String, value: RemoteValue)] = [
    ("null", .null), ("true", .boolean(true)), ("false", .boolean(false)), ("0", .integer(0)),
    ("-9223372036854775808", .integer(.min)), ("9223372036854775807", .integer(.max)),
    ("1.5", .real(1.5)), ("1e+300", .real(1e300)), ("2.0", .integer(2)), ("-0.0", .integer(0)),
    ("1e+16", .integer(10_000_000_000_000_000)), ("-2.5e+1", .integer(-25)),
    ("9007199254740994.0", .integer(9_007_199_254_740_994)),
    ("9223372036854775808", .real(9_223_372_036_854_775_808)),
    ("9.223372036854775e+18", .integer(9_223_372_036_854_775_000)),
    ("18446744073709551616", .real(18446744073709551616)),
    (#""""#, .text("")), (#""a\"b\u00e9\ud83c\uddeb""#, .text("a\"bé🇫")),
    (#"{"base64": "AP8="}"#, .blob(Data([0, 255]))),
    (#"{"base64":""}"#, .blob(Data())), ("[]", .array([])),
    (#"[1,["x"]]"#, .array([.integer(1), .array([.text("x")])])),
    (#"{"a":{},"b":null}"#, .object(["a": .object([:]), "b": .null])),
    (#"{"base64":"%"}"#, .object(["base64": .text("%")])),
  ]

  @Test(arguments: values) func `is the same, however it is read`(json: String, value: RemoteValue)
    throws
  {
    #expect(RemoteValue(RawJSON(json)) == value)
    #expect(try JSONDecoder.remoteRecords.decode(RemoteValue.self, from: Data(json.utf8)) == value)
  }

  @Test func `is null where it is no JSON`() {
    for text in ["", "nonsense", "-", "1,2"] { #expect(RemoteValue(RawJSON(text)) == .null) }
    // A text that is cut off is what there is of it.
    #expect(RemoteValue(RawJSON("\"")) == .text("\""))
  }

  @Test(arguments: [
    (#""a\"b""#, "a\"b"), (#"{"base64":"AP8="}"#, "AP8="), ("2.0", "2"), ("1.5", "1.5"),
    ("null", "null"), ("[]", "[]"),
    (#"[1, "a\"/\n", null, {"base64":"AP8="}]"#, #"[1,"a\"/\n",null,{"base64":"AP8="}]"#),
    (#"{"b":{},"a\\":[true,-2.5]}"#, #"{"a\\":[true,-2.5],"b":{}}"#),
  ])
  func `is described as text, base64 or JSON`(json: String, words: String) {
    #expect(RemoteValue(RawJSON(json)).description == words)
  }
}

@Suite struct `The types of columns` {
  private struct Pet: Decodable, Equatable {
    var id: Int
    var tame: Bool
    var born: Date?
    var seen: Date?
    var tags: [String]
    var photo: Data?
    var icon: RemoteBlob?
  }

  private func pet(_ json: String) throws -> Pet {
    try JSONDecoder.remoteRecords.decode(Pet.self, from: Data(json.utf8))
  }

  @Test func `are those of Swift`() throws {
    let json = #"""
      {"id":1,"tame":true,"born":"1970-01-02","seen":"1970-01-01T00:00:01.5Z","tags":["a","b"],
      "photo":{"base64":"AAE="},"icon":{"url":"records/1/icon?digest=x","bytes":7}}
      """#
    #expect(
      try pet(json)
        == Pet(
          id: 1, tame: true, born: Date(timeIntervalSince1970: 86400),
          seen: Date(timeIntervalSince1970: 1.5), tags: ["a", "b"], photo: Data([0, 1]),
          icon: RemoteBlob(url: "records/1/icon?digest=x", bytes: 7)))
  }

  @Test(arguments: [
    ("2024-02-29", 1_709_164_800), ("2024-02-29T12:30:00Z", 1_709_209_800),
    ("2024-02-29T12:30:00+01:00", 1_709_206_200), ("2024-02-29T12:30:00.25Z", 1_709_209_800.25),
    ("2024-02-29T12:30:00.123456789Z", 1_709_209_800.123), ("0001-01-01", -62_135_596_800),
    ("9999-12-31T23:59:59Z", 253_402_300_799), ("0000-02-29", -62_162_121_600),
    ("1582-10-10", -12_219_724_800), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ("2024-02-29T00:00:00-23:59", 1_709_251_140), ("1969-12-31T23:59:59.5Z", -0.5),
  ])
  func `have days and moments`(text: String, seconds: Double) throws {
    let date = try #require(Date(calendarText: text))
    #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001, "\(date)")
  }

  @Test(arguments: [
    "", "tomorrow", "2024-02-30", "12:30", "2024-02-29T25:00:00Z", "20240229", "2023-02-29",
    "1900-02-29", "2024-00-10", "2024-13-01", "2024-01-00", "2024-02-29T12:30:00",
    "2024-02-29T12:60:00Z", "2024-02-29T12:30:00+24:00",
    "٢٠٢٤-02-29", "2024-02-29T12:30Z", "2024-02-29 12:30:00Z", "-024-02-29", "2024-02-29Z",
  ])
  func `are told where a text is no date`(text: String) {
    #expect(Date(calendarText: text) == nil)
    #expect(throws: DecodingError.self) {
      try pet(#"{"id":1,"tame":true,"tags":[],"born":"\#(text)"}"#)
    }
  }
}

@Suite struct `JSON as it was written` {
  @Test func `is taken apart`() {
    let json = RawJSON(" { \"a\" : [1, {\"b\":\"]\"} ,3], \"c\\n\":\"\\\\\" ,\"d\":{}} ")
    #expect(json.members.map(\.name) == ["a", "c\n", "d"])
    #expect(json.members.map(\.value.text) == [#"[1, {"b":"]"} ,3]"#, #""\\""#, "{}"])
    #expect(json["a"]?.elements().map(\.text) == ["1", #"{"b":"]"}"#, "3"])
    #expect(json["a"]?.elements(limit: 1).map(\.text) == ["1"])
    #expect(json["c\n"]?.string == "\\" && json["d"]?.string == nil && json["e"] == nil)
  }

  @Test func `may be cut anywhere`() {
    let text = #"{"a":[1,{"b":"\"]"}],"c":{"d":null}}"#
    for end in text.indices {
      let json = RawJSON(String(text[..<end]))
      for (_, value) in json.members {
        _ = (value.members, value.elements(), value.plain, RemoteValue(value))
      }
    }
  }
}
