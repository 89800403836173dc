import Callers
import Testing

private let reader = CredentialReader(cookieName: "session")

private func read(
  authorization: [String] = [], cookies: [String] = [], tickets: [String] = [],
  by reader: CredentialReader = reader
) -> Result<Credential, CredentialError> {
  Result { () throws(CredentialError) in
    try reader.credential(authorization: authorization, cookies: cookies, tickets: tickets)
  }
}

@Test func `without any the caller is anonymous`() {
  #expect(read() == .success(.none))
  #expect(read(cookies: ["other=1; Session=2; xsession=3; session"]) == .success(.none))
  #expect(read(cookies: ["session=1"], by: CredentialReader(cookieName: nil)) == .success(.none))
}

@Test(arguments: ["Bearer abc", "bearer abc", "BEARER abc", "bEaReR  abc", " Bearer abc "])
func `Bearer is read in letters of any case`(value: String) {
  #expect(read(authorization: [value]) == .success(.bearer("abc")))
}

@Test(arguments: ["a", "a.b.c", "-._~+/a", "abc=", "abc==", "a===="])
func `a token68 is read as it is`(token: String) {
  #expect(read(authorization: ["Bearer " + token]) == .success(.bearer(token)))
}

@Test(arguments: [
  ("Bearer", CredentialError.invalidBearer), ("Bearer ", .invalidBearer),
  ("Bearer =", .invalidBearer),
  ("Bearer a b", .invalidBearer), ("Bearer a, Bearer b", .invalidBearer),
  ("Bearer a=b", .invalidBearer),
  ("Bearer \"a\"", .invalidBearer), ("Bearer é", .invalidBearer), ("Bearer a\0", .invalidBearer),
  ("Bearer\ta", .invalidBearer), ("Bearer a\r\nb", .invalidBearer), ("Bearer a;b", .invalidBearer),
  ("Basic YTpi", .otherScheme), ("", .otherScheme), ("abc", .otherScheme),
  ("Bearera b", .otherScheme),
  ("Bearer=abc", .otherScheme), ("Béarer a", .otherScheme), ("Token abc", .otherScheme),
  ("\u{212A}earer a", .otherScheme), ("\u{2}earer a", .otherScheme), ("\"earer a", .otherScheme),
]) func `Authorization that is there and not good is an error`(
  value: String, error: CredentialError
) {
  #expect(read(authorization: [value]) == .failure(error))
  // Not even a good cookie makes up for it.
  #expect(read(authorization: [value], cookies: ["session=good"]) == .failure(error))
}

@Test func `two Authorization headers are refused, also the same twice`() {
  #expect(read(authorization: ["Bearer a", "Bearer a"]) == .failure(.repeatedAuthorization))
}

@Test(arguments: [
  ("session=abc", "abc"), ("a=b; session=abc", "abc"), ("session=abc; a=b", "abc"),
  ("a=b;session=abc;c", "abc"), ("  session = abc ", "abc"), ("session=\"abc\"", "abc"),
  ("session=a=b==", "a=b=="), ("a=\"x; session=abc", "abc"), ("=x; session=abc; ;", "abc"),
  ("session=s%3Aabc.d/e+f", "s%3Aabc.d/e+f"), ("é=ü; session=abc", "abc"),
  ("SESSION=x; session=y", "y"),
]) func `a cookie is found by its name`(header: String, value: String) {
  #expect(read(cookies: [header]) == .success(.cookie(value)))
}

@Test(arguments: [
  ("session=a; session=a", CredentialError.repeatedCookie),
  ("session=a; session=", .repeatedCookie),
  ("session=; a=b", .invalidCookie), ("session=\"\"", .invalidCookie),
  ("session=\"", .invalidCookie),
  ("session=\"a", .invalidCookie), ("session=a\"", .invalidCookie), ("session=a b", .invalidCookie),
  ("session=a,b", .invalidCookie), ("session=a\\b", .invalidCookie), ("session=é", .invalidCookie),
  ("session=a\0", .invalidCookie), ("session=\u{7f}", .invalidCookie),
  ("session=\"a\"b\"", .invalidCookie),
]) func `a cookie that is there and not good is an error`(header: String, error: CredentialError) {
  #expect(read(cookies: [header]) == .failure(error))
}

@Test func `several Cookie headers are one`() {
  #expect(read(cookies: ["a=b", "session=abc"]) == .success(.cookie("abc")))
  #expect(read(cookies: ["session=a", "session=b"]) == .failure(.repeatedCookie))
}

@Test func `a ticket wins over Authorization, which wins over the cookie`() {
  #expect(
    read(authorization: ["Bearer a"], cookies: ["session=b"], tickets: ["c"])
      == .success(.ticket("c")))
  #expect(read(authorization: ["Bearer a"], cookies: ["session=b"]) == .success(.bearer("a")))
  #expect(read(authorization: ["Basic a"], tickets: ["c"]) == .success(.ticket("c")))
  #expect(read(tickets: ["c", "c"]) == .failure(.repeatedTicket))
  #expect(read(authorization: ["Bearer a"], tickets: [""]) == .failure(.invalidTicket))
}

@Test func `what is longer than 8192 bytes is refused`() {
  let (longest, more) = (String(repeating: "a", count: 8192), String(repeating: "a", count: 8193))
  #expect(read(authorization: ["Bearer " + longest]) == .success(.bearer(longest)))
  #expect(read(authorization: ["Bearer " + more]) == .failure(.tooLong))
  #expect(read(cookies: ["session=" + more]) == .failure(.tooLong))
  #expect(read(tickets: [more]) == .failure(.tooLong))
}

@Test(arguments: CredentialError.allCases)
func `an error has a text for the client and one for the log`(error: CredentialError) {
  #expect(error.detail.hasSuffix("."))
  #expect(!error.explanation.isEmpty)
}

@Test(arguments: [
  ("session", true), ("__Host-session", true), ("a.b", true), ("", false), ("a b", false),
  ("a=b", false), ("a;b", false), ("é", false), ("\"a\"", false), ("a\0", false),
]) func `a cookie's name is a token`(name: String, isName: Bool) {
  #expect(CredentialReader.isCookieName(name) == isName)
}
