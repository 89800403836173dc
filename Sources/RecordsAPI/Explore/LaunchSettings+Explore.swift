import Callers

extension LaunchSettings {
  /// Whether those who explore have to show that they are operators.
  var exploresForOperators: Bool { callers.map { $0.operators != .anyone } ?? false }

  /// Whether only programs on this machine reach the server.
  private var isLocal: Bool {
    listen.isLoopback && inheritedSockets.allSatisfy { ListenAddress($0).isLoopback }
  }

  /// Refuses to let anybody explore who may not read all of the database.
  ///
  /// - Throws: ``ConfigurationProblems`` where everybody who reaches the server could, from other
  ///   machines, or nobody at all.
  func checkExploring() throws(ConfigurationProblems) {
    guard explores else { return }
    if let callers, callers.operators == nil {
      throw problem(
        at: .callers, "--explore is for the `operators`, and `callers` names none",
        mend: "add `operators` to `callers`, or leave --explore out")
    }
    guard exploresForOperators || isLocal else {
      throw problem(
        at: .listen,
        "--explore lets whoever reaches the server read all of the database, and other machines "
          + "reach \(listen)",
        mend: "listen on 127.0.0.1, or say under `callers` who the `operators` are")
    }
  }

  /// At a word of the configuration, where that is what counts.
  private func problem(
    at word: FileWord, _ message: String, mend: String
  ) -> ConfigurationProblems {
    let isInFile = word == .callers || configuration?.listen == listen
    return ConfigurationProblems([
      ConfigurationProblem(
        file: isInFile ? configuration?.file : nil,
        position: configuration?.position(of: word) ?? .start, message: message, mend: mend)
    ])
  }
}
