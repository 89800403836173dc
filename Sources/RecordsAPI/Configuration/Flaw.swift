/// What is wrong with a text that somebody wrote, and how to mend it.
package struct Flaw: Error, Equatable {
  package let message: String
  package let mend: String

  init(_ message: String, mend: String) { (self.message, self.mend) = (message, mend) }
}
