import Foundation

/// What standard output can show.
struct Terminal {
  enum Colour: Int {
    case bold = 1, dim, red = 31, green, yellow, blue, magenta, cyan
  }

  // https://no-color.org
  let hasColours: Bool
  /// nil: lines may be as long as they are.
  let width: Int?

  init(hasColours: Bool, width: Int?) {
    self.hasColours = hasColours
    self.width = width
  }

  static func standardOutput(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Terminal {
    guard isatty(STDOUT_FILENO) == 1 else { return Terminal(hasColours: false, width: nil) }
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return Terminal(
      hasColours: environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb",
      width: isKnown ? Int(size.ws_col) : nil)
  }

  func paint(_ text: String, _ colour: Colour) -> String {
    hasColours ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Cuts a text so that it fits on a line of which so many columns are taken.
  ///
  /// It counts characters: a line of wide ones may wrap.
  func fit(_ text: String, taken: Int) -> String {
    let safe = String(String.UnicodeScalarView(text.unicodeScalars.map(Self.shown)))
    guard let width, safe.count + taken > width else { return safe }
    return safe.prefix(max(8, width - taken - 1)) + "…"
  }

  /// Data is no command to the terminal: JSON escapes C0, but neither DEL nor C1.
  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar
  }
}
