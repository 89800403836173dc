import ServerSentEvents

extension ReceivedEvent {
  /// An event as an answer or a line of NDJSON has it.
  init(element: JSONValue) throws {
    guard let type = element["event"].string, let data = element.member("data") else {
      throw ContractViolation("no event: \(element)")
    }
    let carriesID = type == "snapshot" || type == "didChange"
    self.init(
      event: .init(
        type: type, data: data.description, lastEventID: data["version"].string ?? ""),
      text: element.description, carriesID: carriesID)
  }
}
