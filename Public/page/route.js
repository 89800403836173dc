/** The chosen query and its parameters in the address: `#players?country=FR`. */

export function readRoute(hash) {
  const [name, search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  if (name === "") return null;
  return { query: decoded(name), parameters: Object.fromEntries(new URLSearchParams(search)) };
}

export function writeRoute({ query, parameters }) {
  const search = new URLSearchParams(parameters).toString();
  return `#${encodeURIComponent(query)}${search && `?${search}`}`;
}

/** A hand-written hash may hold a stray percent sign. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
