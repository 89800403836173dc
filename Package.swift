// swift-tools-version: 6.3
import PackageDescription

/// The language of every target: Swift 6, explicit existentials, imports that say what they are for.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// Tests are built without optimisation, in release too: they take as long to optimise as the product.
let testSettings = settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// What FetchedRecords needs and FetchedRecordsClient does not.
let library = TargetDependencyCondition.when(traits: ["Library"])

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: library)
let sqlite = Target.Dependency.product(
  name: "GRDBSQLite", package: "GRDB.swift", condition: library)
let algorithms = Target.Dependency.product(
  name: "Algorithms", package: "swift-algorithms", condition: library)
let deque = Target.Dependency.product(
  name: "DequeModule", package: "swift-collections", condition: library)
let hashTree = Target.Dependency.product(
  name: "HashTreeCollections", package: "swift-collections", condition: library)

/// What the server needs besides. A program resolves nothing that its traits do not name.
let server = TargetDependencyCondition.when(traits: ["Server"])

let httpTypes = Target.Dependency.product(
  name: "HTTPTypes", package: "swift-http-types", condition: server)
let logging = Target.Dependency.product(
  name: "Logging", package: "swift-log", condition: server)
let crypto = Target.Dependency.product(
  name: "Crypto", package: "swift-crypto", condition: server)
let cryptoExtras = Target.Dependency.product(
  name: "CryptoExtras", package: "swift-crypto", condition: server)
let jwt = Target.Dependency.product(name: "JWTKit", package: "jwt-kit", condition: server)
let yams = Target.Dependency.product(name: "Yams", package: "Yams", condition: server)
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: server)

let package = Package(
  name: "didchange",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [
    .library(name: "FetchedRecords", targets: ["FetchedRecords"]),
    .library(name: "FetchedRecordsClient", targets: ["FetchedRecordsClient"]),
    .executable(name: "didchange", targets: ["didchange"]),
  ],
  traits: [
    .trait(name: "Library", description: "FetchedRecords, on GRDB."),
    .trait(
      name: "Server", description: "The server and the command.", enabledTraits: ["Library"]),
    .default(enabledTraits: ["Server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-algorithms", from: "1.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.1.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.0.0"),
  ],
  targets: [
    // Dependencies point strictly downwards; the order here is bottom to top.
    .target(name: "Locks", swiftSettings: settings),
    .systemLibrary(name: "CMalloc"),
    .target(name: "HeldMemory", dependencies: ["CMalloc", "Locks"], swiftSettings: settings),
    .target(name: "SeededRandom", swiftSettings: settings),
    .target(name: "Hashing", dependencies: ["SeededRandom"], swiftSettings: settings),
    .target(
      name: "OrderedResults", dependencies: ["Hashing", "HeldMemory", "Locks", algorithms],
      swiftSettings: settings),
    .systemLibrary(name: "CSQLiteSettings"),
    .systemLibrary(name: "CLinux"),
    .target(
      name: "ChangeCapture",
      dependencies: [
        "CLinux", "CSQLiteSettings", "Hashing", "Locks", "OrderedResults", algorithms, grdb, sqlite,
      ],
      swiftSettings: settings),
    .target(
      name: "QueryAnalysis",
      dependencies: ["ChangeCapture", "OrderedResults", algorithms, grdb, sqlite],
      swiftSettings: settings),
    .target(
      name: "FetchedRecords",
      dependencies: [
        "CLinux", "ChangeCapture", "Hashing", "HeldMemory", "JSON", "Locks", "OrderedResults",
        "QueryAnalysis", algorithms, deque, grdb, hashTree, sqlite,
      ],
      swiftSettings: settings),
    .target(name: "JSON", swiftSettings: settings),
    .target(
      name: "Callers", dependencies: ["JSON", "Locks", crypto, jwt], swiftSettings: settings),
    .target(name: "HTTP1", dependencies: [httpTypes], swiftSettings: settings),
    .target(
      name: "HTTPServer",
      dependencies: [
        "CLinux", "HeldMemory", "HTTP1", "JSON", "Locks", algorithms, httpTypes, logging,
      ],
      swiftSettings: settings),
    .target(name: "ServerSentEvents", swiftSettings: settings),
    .target(
      name: "FetchedRecordsClient", dependencies: ["Locks", "ServerSentEvents"],
      swiftSettings: settings),
    .target(
      name: "RecordsAPI",
      dependencies: [
        "Callers", "ChangeCapture", "FetchedRecords", "HeldMemory", "HTTP1", "HTTPServer", "JSON",
        "Locks", "OrderedResults", "QueryAnalysis", "ServerSentEvents", algorithms, deque, grdb,
        httpTypes, logging, sqlite, yams,
      ],
      swiftSettings: settings),
    .target(
      name: "Demo",
      dependencies: [
        "FetchedRecords", "Locks", "OrderedResults", "QueryAnalysis", "SeededRandom", grdb, logging,
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "didchange",
      dependencies: [
        "Callers", "Demo", "FetchedRecordsClient", "HTTPServer", "HeldMemory", "JSON", "Locks",
        "RecordsAPI", "ServerSentEvents", logging, argumentParser,
      ],
      swiftSettings: settings),

    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "Callers", "CLinux", "ChangeCapture", "FetchedRecords", "HTTPServer", "Locks",
        "OrderedResults", "QueryAnalysis", "SeededRandom", crypto, cryptoExtras, grdb, httpTypes,
        logging, sqlite,
        argumentParser,
      ],
      path: "Benchmarks",
      exclude: [
        "README.md", "Bind", "DifferenceKitPeer", "HTTP/HummingbirdPeer", "HTTP/Tools", "Scroll",
      ],
      swiftSettings: settings),

    .systemLibrary(
      name: "CCurl", path: "Tests/CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),
    .target(
      name: "TestSupport", dependencies: ["Locks", "OrderedResults", "SeededRandom"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "HeldMemoryTests", dependencies: ["HeldMemory", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "OrderedResultsTests",
      dependencies: ["Hashing", "OrderedResults", "SeededRandom", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "ChangeCaptureTests",
      dependencies: ["ChangeCapture", "Hashing", "Locks", "OrderedResults", "TestSupport", grdb],
      swiftSettings: testSettings),
    .testTarget(
      name: "QueryAnalysisTests", dependencies: ["OrderedResults", "QueryAnalysis", grdb],
      swiftSettings: testSettings),
    .testTarget(
      name: "FetchedRecordsTests",
      dependencies: [
        "ChangeCapture", "FetchedRecords", "Locks", "OrderedResults", "QueryAnalysis",
        "SeededRandom", "TestSupport", grdb,
      ],
      swiftSettings: testSettings),
    // The library as programs see it that are not written in the language mode of this package.
    .testTarget(
      name: "SwiftFiveTests", dependencies: ["FetchedRecords", grdb],
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "CallersTests",
      dependencies: ["Callers", "Locks", "TestSupport", crypto, cryptoExtras],
      swiftSettings: testSettings),
    .testTarget(
      name: "HTTP1Tests", dependencies: ["HTTP1", "SeededRandom", httpTypes],
      swiftSettings: testSettings),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "HTTPServer", "HTTP1", "CCurl", "HeldMemory", "Locks", "SeededRandom", "TestSupport",
        httpTypes, logging,
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "ServerSentEventsTests", dependencies: ["ServerSentEvents", "SeededRandom"],
      swiftSettings: testSettings),
    .testTarget(
      name: "FetchedRecordsClientTests",
      dependencies: ["FetchedRecordsClient", "Locks", "ServerSentEvents"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RecordsAPITests",
      dependencies: [
        "Callers", "RecordsAPI", "FetchedRecords", "HTTP1", "HTTPServer", "Locks",
        "OrderedResults", "JSON", "QueryAnalysis", "SeededRandom", "ServerSentEvents",
        "TestSupport", grdb, httpTypes,
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "DemoTests",
      dependencies: [
        "Demo", "FetchedRecords", "QueryAnalysis", "RecordsAPI", "SeededRandom", grdb, logging,
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "CCurl", "FetchedRecords", "FetchedRecordsClient", "HTTPServer", "Locks", "RecordsAPI",
        "OrderedResults", "ServerSentEvents", "TestSupport", "didchange", crypto, grdb,
      ],
      swiftSettings: testSettings),
  ]
)
