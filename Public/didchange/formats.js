/** How values are written: by the type of their column where that is told, and else by what they are. */

const typeOf = (value) => {
  if (value === null || value === undefined) return "null";
  if (typeof value === "object") return "base64" in value ? "blob" : "json";
  return { string: "text", boolean: "boolean" }[typeof value] ?? "number";
};

/**
 * A function of a record, a column and perhaps its type, which gives a text or a node.
 *
 * `formats`: type → a function of a value, its column and its record. `types`: column → type.
 */
export const formatter = ({ formats = {}, types = {} }) => (record, column, type = types[column]) => {
  const value = record[column];
  const format = formats[value === null ? "null" : type ?? typeOf(value)];
  return format ? format(value, column, record) : String(value ?? "");
};
