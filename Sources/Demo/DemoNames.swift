/// Who plays in the demo: invented people with the commonest names of their countries.
enum DemoNames {
  static let teams: [(name: String, otherName: String, city: String)] = [
    ("Amber", "Amber United", "Lisbon"), ("Blue", "Blue Harbour", "Bergen"),
    ("Crimson", "Crimson Town", "Nairobi"), ("Green", "Green Valley", "Osaka"),
    ("Violet", "Violet City", "Montréal"), ("White", "White Rose", "Kraków"),
  ]

  static let countries = ["BR", "FR", "JP", "KE", "NO", "PL"]

  /// 36 names a country.
  static func name(of country: String, using generator: inout some RandomNumberGenerator) -> String
  {
    let (given, family) = names[country] ?? ([], [])
    return [given, family].compactMap { $0.randomElement(using: &generator) }.joined(separator: " ")
  }

  private static let names: [String: (given: [String], family: [String])] = [
    "BR": (
      ["Ana", "Bruno", "Caio", "Júlia", "Rafaela", "Tiago"],
      ["Almeida", "Barbosa", "Costa", "Moreira", "Ramos", "Souza"]
    ),
    "FR": (
      ["Camille", "Élise", "Hugo", "Louis", "Manon", "Zoé"],
      ["Bernard", "Dubois", "Fournier", "Laurent", "Mercier", "Petit"]
    ),
    "JP": (
      ["Akira", "Haruka", "Kenta", "Mei", "Sakura", "Yuto"],
      ["Fujita", "Ito", "Kobayashi", "Nakamura", "Sato", "Watanabe"]
    ),
    "KE": (
      ["Achieng", "Brian", "Faith", "Kamau", "Mercy", "Wanjiru"],
      ["Kariuki", "Mutua", "Njoroge", "Ochieng", "Otieno", "Wambui"]
    ),
    "NO": (
      ["Astrid", "Emil", "Ingrid", "Jonas", "Liv", "Oskar"],
      ["Berg", "Dahl", "Haugen", "Lund", "Nilsen", "Solberg"]
    ),
    "PL": (
      ["Agata", "Jakub", "Kasia", "Mateusz", "Piotr", "Zofia"],
      ["Kowalska", "Lis", "Mazur", "Nowak", "Wójcik", "Zając"]
    ),
  ]
}
