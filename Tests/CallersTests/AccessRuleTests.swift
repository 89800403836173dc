import Callers
import Testing

private let rule = AccessRule.claims(["role": [.string("customer"), .string("admin")]])

@Test func `anyone may read what is for anyone`() {
  #expect(AccessRule.anyone.decision(for: nil) == .allowed)
  #expect(AccessRule.anyone.decision(for: Claims()) == .allowed)
}

@Test func `who has not signed in is asked to, and never forbidden`() {
  #expect(AccessRule.signedIn.decision(for: nil) == .signInNeeded)
  #expect(rule.decision(for: nil) == .signInNeeded)
  #expect(AccessRule.signedIn.decision(for: Claims()) == .allowed)
}

@Test(arguments: [
  (ClaimValue.string("admin"), true), (.string("customer"), true), (.string("Admin"), false),
  (.string("admin "), false), (.string(""), false), (.string("admin\0"), false), (.null, false),
  (.array([.string("guest"), .string("admin")]), true), (.array([.string("guest")]), false),
  (.array([]), false), (.array([.array([.string("admin")])]), true),
  (.object(Claims([("admin", .boolean(true))])), false), (.boolean(true), false),
]) func `a claim must be one of the listed values, or have one`(value: ClaimValue, isAllowed: Bool)
{
  let decision = rule.decision(for: Claims([("role", value)]))
  #expect(decision == (isAllowed ? .allowed : .forbidden))
}

@Test func `each named claim must match`() {
  let rule = AccessRule.claims(["role": [.string("admin")], "org.id": [.integer(7)]])
  let org = ClaimValue.object(Claims([("id", .double(7))]))
  #expect(rule.decision(for: Claims([("role", .string("admin")), ("org", org)])) == .allowed)
  #expect(rule.decision(for: Claims([("role", .string("admin"))])) == .forbidden)
  #expect(rule.decision(for: Claims([("org", org)])) == .forbidden)
}

@Test func `no listed value lets nobody in`() {
  let rule = AccessRule.claims(["role": []])
  #expect(rule.decision(for: Claims([("role", .string("admin"))])) == .forbidden)
  #expect(rule.decision(for: Claims([("role", .array([]))])) == .forbidden)
}

@Test(arguments: [
  (ClaimValue.integer(7), ClaimValue.double(7), true), (.double(7), .integer(7), true),
  (.string("7"), .integer(7), false), (.integer(7), .string("7"), false),
  (.double(7.5), .integer(7), false), (.double(0.5), .double(0.5), true),
  // 2⁵³ + 1 is no double: a comparison of doubles would take it for 2⁵³.
  (.integer(9_007_199_254_740_993), .double(9_007_199_254_740_992), false),
  (.double(9_223_372_036_854_775_808), .integer(.max), false),
  (.boolean(true), .integer(1), true), (.integer(1), .boolean(true), true),
  (.integer(0), .boolean(false), true), (.integer(2), .boolean(true), false),
  (.string("true"), .boolean(true), false), (.null, .null, false), (.null, .boolean(false), false),
  (.integer(0), .null, false), (.double(-0.0), .integer(0), true),
]) func `values are compared as a configuration means them`(
  claim: ClaimValue, listed: ClaimValue, isMatch: Bool
) {
  #expect(claim.matches(listed) == isMatch)
}
