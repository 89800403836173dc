package import HTTPTypes

extension HTTPFields {
  /// The value of a field, joined as a list where it was sent several times (RFC 9110 §5.3).
  ///
  /// The subscript makes an index of all fields first, which for the few of a request costs more
  /// than to read them. O(n) for n fields.
  package func value(of name: HTTPField.Name) -> String? {
    var result: String?
    for index in indices where self[index].name == name {
      let value = self[index].value
      result = result.map { "\($0), \(value)" } ?? value
    }
    return result
  }
}
