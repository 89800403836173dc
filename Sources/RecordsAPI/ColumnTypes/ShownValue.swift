import OrderedResults

/// A value as its column's type has it, in whatever format it is written.
enum ShownValue {
  /// As it is stored: the column has no type, or the value is none of it.
  case stored(ColumnView)
  case boolean(Bool)
  case moment(CalendarText)
  /// Text that may be JSON.
  case json(UnsafeRawBufferPointer)
  case url(String, bytes: Int)
}

extension RecordForm {
  /// What a value is shown as that a column has or had in a record.
  func shown(_ view: ColumnView, ofColumn index: Int, of record: Record) -> ShownValue {
    guard !layout.types.isEmpty, let type = layout.types[index] else { return .stored(view) }
    switch (type, view) {
    case (.boolean, .integer(0)): return .boolean(false)
    case (.boolean, .integer(1)): return .boolean(true)
    case (.json, .text(let text)): return .json(text)
    case (.date(let readsNumbers), _):
      return CalendarText(view, isMoment: false, readsNumbers: readsNumbers)
        .map { .moment($0) } ?? .stored(view)
    case (.datetime(let readsNumbers), _):
      return CalendarText(view, isMoment: true, readsNumbers: readsNumbers)
        .map { .moment($0) } ?? .stored(view)
    case (.blob, .blob(let bytes)):
      guard let addresses else { return .stored(view) }
      let key = (layout.key ?? []).map { record.value($0) }
      let url = addresses.url(of: layout.columns[index], key: key, bytes: bytes)
      return .url(url, bytes: bytes.count)
    default: return .stored(view)
    }
  }
}

extension CalendarText {
  fileprivate init?(_ view: ColumnView, isMoment: Bool, readsNumbers: Bool) {
    switch view {
    case .text(let text): self.init(text, isMoment: isMoment)
    case .integer(let seconds) where readsNumbers: self.init(seconds: seconds, isMoment: isMoment)
    case .real(let real) where readsNumbers: self.init(real: real, isMoment: isMoment)
    default: return nil
    }
  }
}
