// What another process does to a shop and its sessions.

import { digest } from "./history.mjs";

export const tokens = ["ann", "ann2", "bob", "bob2", "cy", "dan", "eve"];
/** Those that are given to controllers; cookies may be all. A browser has six connections to a server. */
export const given = tokens.slice(0, 4);

const signIn = (token, values) => `INSERT INTO session VALUES ('${digest(token)}', ${values})`;
const isOf = (token) => `token = '${digest(token)}'`;
const signOut = (token) => `DELETE FROM session WHERE ${isOf(token)}`;

export const schema = `
  CREATE TABLE session (token TEXT PRIMARY KEY, user INTEGER, role TEXT, level INTEGER, expires INTEGER);
  CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, kind TEXT, item TEXT);
  CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, level INTEGER);
  CREATE TABLE notice (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TABLE clock (tick INTEGER);
  INSERT INTO clock VALUES (-1);
  INSERT INTO notice VALUES (1, 'Welcome');
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
  INSERT INTO purchase SELECT i, 1 + i % 4, 'kind ' || (i % 3), 'item ' || i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
  INSERT INTO product SELECT i, 'product ' || i, 1 + i % 3 FROM n;
  ${signIn("operator", "0, 'operator', NULL, NULL")};
  ${signIn("sentinel", "0, 'sentinel', NULL, NULL")};`;

/** `orders` and `ledger` say of which transaction they are. */
export const configuration = (database) => `
database: ${database}
callers:
  cookie: session
  opaque: true
  claims: SELECT user, role, level, expires FROM session WHERE token = :token
  operators: {role: operator}
queries:
  orders:
    table: purchase
    where: customer = :customer
    order: [kind, item]
    section: kind
    parameters: {customer: {type: integer, claim: user}}
    alongside: {tick: SELECT tick FROM clock}
    allow: {role: [customer, admin]}
  shelf:
    table: product
    fields: [id, name]
    where: level <= :level
    parameters: {level: {type: integer, claim: level}}
  ledger:
    table: purchase
    alongside: {tick: SELECT tick FROM clock}
    allow: {role: [admin]}
  notices: {table: notice, allow: anyone}
`;

/** Everybody signed in. */
export const beginning = tokens.map((token, index) =>
  signIn(token, `${1 + index % 4}, 'customer', ${1 + index % 3}, NULL`)).join("; ");

/** The statements of one transaction, on one line. */
export function transaction(random) {
  const statements = Array.from({ length: random.number(1, 3) }, () =>
    (random.once(3) ? sessionChange : recordChange)(random));
  return statements.join("; ");
}

/** Ends a session. */
export const ending = signOut;

/** For one who may have been signed out. */
export const beginningOf = (random, token) => `${signOut(token)}; ${
  signIn(token, `${random.number(1, 4)}, '${roleOf(random)}', ${random.number(1, 3)}, NULL`)}`;

const roleOf = (random) => random.pick(["customer", "customer", "customer", "admin", "guest"]);

function sessionChange(random) {
  const token = random.pick(tokens);
  const change = (columns) => `UPDATE session SET ${columns} WHERE ${isOf(token)}`;
  return random.weighed([
    [2, () => signOut(token)],
    [5, () => beginningOf(random, token)],
    [1, () => change(`role = '${roleOf(random)}'`)],
    [2, () => change(`user = ${random.number(1, 4)}`)],
    [1, () => change(`level = ${random.number(0, 3)}`)],
    [1, () => change(random.pick(["user = NULL", "level = NULL", "expires = 1", "expires = NULL, user = 2, level = 2"]))],
  ])();
}

function recordChange(random) {
  const text = random.number(1000, 9999);
  const [id, customer] = [random.number(1, 30), random.number(1, 4)];
  return random.weighed([
    [2, `UPDATE purchase SET item = 'item ${text}' WHERE id = ${id}`],
    [2, `UPDATE purchase SET customer = ${customer} WHERE id % 7 = ${random.number(0, 6)}`],
    [1, `UPDATE purchase SET kind = 'kind ${random.number(0, 3)}' WHERE id = ${id}`],
    [1, `DELETE FROM purchase WHERE id = ${id}`],
    [2, `INSERT OR REPLACE INTO purchase VALUES (${id}, ${customer}, 'kind ${random.number(0, 3)}', 'item ${text}')`],
    [1, `UPDATE product SET name = 'product ${text}' WHERE id = ${random.number(1, 24)}`],
    [1, `UPDATE product SET level = ${random.number(1, 3)} WHERE id = ${random.number(1, 24)}`],
    [1, `UPDATE notice SET text = 'notice ${text}'`],
  ]);
}
