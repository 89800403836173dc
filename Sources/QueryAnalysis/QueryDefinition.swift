package import OrderedResults

/// What to watch: a named SELECT with declared parameters.
///
/// A definition is only words; ``Query`` is what SQLite makes of it. Nothing here is ever spliced
/// with a parameter's value: values are bound.
package struct QueryDefinition: Sendable, Hashable {
  /// The two ways to say which records.
  package enum Form: Sendable, Hashable {
    /// The engine writes the SELECT, and so can maintain and page its result.
    case declared(Declaration)
    /// Any single SELECT statement.
    case sql(String)
  }

  /// The parts of a SELECT over one table or view.
  package struct Declaration: Sendable, Hashable {
    package var table: String
    /// SQL expressions, each with an optional `AS name`; nil: all columns.
    package var fields: [String]?
    package var predicate: String?
    package var groupBy: [String]
    package var having: String?
    /// Ordering terms as ORDER BY has them: `name COLLATE NOCASE DESC NULLS LAST`.
    package var order: [String]

    package init(
      table: String, fields: [String]? = nil, predicate: String? = nil, groupBy: [String] = [],
      having: String? = nil, order: [String] = []
    ) {
      self.table = table
      self.fields = fields
      self.predicate = predicate
      self.groupBy = groupBy
      self.having = having
      self.order = order
    }
  }

  /// Ordering terms that clients choose by name.
  package struct Order: Sendable, Hashable {
    package var name: String
    /// As in ``Declaration/order``.
    package var terms: [String]

    package init(name: String, terms: [String]) {
      self.name = name
      self.terms = terms
    }
  }

  /// A statement whose values are read in the same transaction as the records.
  package struct Alongside: Sendable, Hashable {
    package var name: String
    package var sql: String

    package init(name: String, sql: String) {
      self.name = name
      self.sql = sql
    }
  }

  package var name: String
  package var title: String?
  package var form: Form
  /// Names of result columns that identify a record; nil: found out from the primary key.
  package var key: [String]?
  /// An SQL expression over the row whose value names the section.
  package var section: String?
  /// An SQL expression over the row whose text stands in the section index.
  package var sectionIndexTitle: String?
  package var parameters: [QueryParameter]
  package var alongside: [Alongside]
  /// The orders in which clients may ask for the records of a declaration, that which holds without
  /// their saying so first; empty: the declaration's own holds always.
  package var orders: [Order] = []
  /// What the columns mean.
  package var columnTypes = ColumnTypes()
  /// Whether results are kept in a file, so that they outlive the process.
  package var isCached = false
  /// Whether it is for the server's own use: no client may ask for it, and who listens hears of a
  /// commit before others do.
  package var isPrivate = false
  /// Whether somebody explores the database by it: nobody has thought about what it costs.
  package var isExplored = false
  /// Whether its result is what others are made of, and so is brought up to date before theirs.
  package var servesOthers = false
  /// Whether it follows rows by itself though its result is what others are made of.
  package var followsRows = false
  /// Whether several result columns may have one name: for readers that do not look by name.
  package var repeatsColumnNames = false

  package init(
    name: String, title: String? = nil, form: Form, key: [String]? = nil, section: String? = nil,
    sectionIndexTitle: String? = nil, parameters: [QueryParameter] = [],
    alongside: [Alongside] = []
  ) {
    self.name = name
    self.title = title
    self.form = form
    self.key = key
    self.section = section
    self.sectionIndexTitle = sectionIndexTitle
    self.parameters = parameters
    self.alongside = alongside
  }
}

extension QueryDefinition {
  /// The argument by which one of the ``orders`` is chosen: a parameter like any other, which no
  /// definition may declare.
  package static let orderParameter = "order"

  /// The same query with its records in another of its orders.
  package func ordered(by order: Order) -> QueryDefinition {
    guard case .declared(var declaration) = form else { return self }
    var definition = self
    declaration.order = order.terms
    definition.form = .declared(declaration)
    return definition
  }
}

/// A parameter that a query declares.
package struct QueryParameter: Sendable, Hashable {
  /// What values a parameter takes; where they come as text, how it is read.
  package enum ValueType: String, Sendable, CaseIterable {
    case text, integer, real, blob
  }

  package var name: String
  package var type: ValueType
  /// The value where none is given; nil: one must be given.
  package var defaultValue: Value?
  /// Whether the value is known of whoever asks, and so stands in no URL.
  package var isClaimed = false

  package init(name: String, type: ValueType, defaultValue: Value? = nil) {
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
  }
}
