import Foundation
import RecordsAPI

/// What standard output can show.
struct Terminal {
  enum Colour: Int {
    case bold = 1, dim, red = 31, green, yellow, blue, magenta, cyan
  }

  // https://no-color.org
  let hasColours: Bool
  /// nil: lines may be as long as they are.
  let width: Int?

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
    let safe = text.showingControls()
    return hasColours ? "\u{1B}[\(colour.rawValue)m\(safe)\u{1B}[0m" : safe
  }

  /// Cuts a text so that it fits on a line of which so many columns are taken.
  ///
  /// It counts characters: a line of wide ones may wrap.
  func fit(_ text: String, taken: Int) -> String {
    let safe = text.showingControls()
    guard let width, safe.count + taken > width else { return safe }
    return safe.prefix(max(8, width - taken - 1)) + "…"
  }
}
