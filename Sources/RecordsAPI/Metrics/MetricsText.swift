import HTTPServer

/// Writes numbers in the text format that Prometheus reads:
/// https://prometheus.io/docs/instrumenting/exposition_formats/
struct MetricsText {
  private(set) var text = ""

  enum Kind: String {
    case counter, gauge, histogram
  }

  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ value: some CustomStringConvertible
  ) {
    add(name, kind, help, [("", value)])
  }

  /// Several values of one name, each with its labels: `status="200"`.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String,
    _ values: [(labels: String, value: any CustomStringConvertible)], prefix: String = "didchange_"
  ) {
    text += "# HELP \(prefix)\(name) \(help)\n# TYPE \(prefix)\(name) \(kind.rawValue)\n"
    for (labels, value) in values {
      text += "\(prefix)\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n"
    }
  }
}

extension MetricsText {
  /// Histograms of one name: buckets, sum and count for each set of labels.
  mutating func add(
    _ name: String, _ help: String, _ histograms: [(labels: String, Histogram)]
  ) {
    text += "# HELP didchange_\(name) \(help)\n# TYPE didchange_\(name) histogram\n"
    for (labels, histogram) in histograms {
      for (bound, count) in histogram.cumulative {
        text += "didchange_\(name)_bucket{\(labels),le=\"\(bound)\"} \(count)\n"
      }
      text += "didchange_\(name)_bucket{\(labels),le=\"+Inf\"} \(histogram.count)\n"
      text += "didchange_\(name)_sum{\(labels)} \(histogram.sum)\n"
      text += "didchange_\(name)_count{\(labels)} \(histogram.count)\n"
    }
  }
}

extension MetricsText {
  /// A label, whatever is in its value.
  static func label(_ name: String, _ value: String) -> String {
    let value = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n")
    return "\(name)=\"\(value)\""
  }
}
