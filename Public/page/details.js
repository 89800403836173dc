/** What the server knows of the chosen query: how its changes are found, its key, SQL and plan. */

import { element } from "./dom.js";
import { testConnection } from "./selftest.js";
import { typesText } from "./typed.js";

/** @param explorer the module explore.js, where the server lets explore */
export function fillDetails(panel, query, streamURL, needsToken, explorer) {
  const reason = query.trackingReason ? `: ${query.trackingReason}` : "";
  const { controllers } = query;
  const users = controllers?.reduce((sum, { subscribers }) => sum + subscribers, 0);
  const claimed = claimedNames(query);
  const facts = {
    Tracking: query.tracking && `${query.tracking}${reason}`,
    "A commit": query.commits?.map(({ tables, detail }) => `to ${tables.join(", ")} costs ${detail}`).join("; "),
    Key: query.key?.length ? query.key.join(", ") : "none: records only come and go",
    Section: query.section,
    Columns: query.columns.join(", "),
    Types: typesText(query.columnTypes),
    Users: controllers && `${users}, of ${controllers.length} different parameters`,
    "Who you are": claimed.length && `gives ${claimed.join(", ")}`,
  };
  const list = element("dl");
  for (const [term, fact] of Object.entries(facts)) {
    if (fact) list.append(element("dt", {}, term), element("dd", {}, fact));
  }
  list.append(element("dt", {}, "Terminal"), element("dd", {}, code(curlCommand(streamURL, needsToken))));
  panel.replaceChildren(list);
  if (explorer) panel.append(query.explored ? configuration(query, explorer) : explorationOf(query, explorer));
  if (query.sql) panel.append(element("pre", {}, ...highlighted(query.sql)));
  if (query.plan?.length) {
    panel.append(element("pre", { ariaLabel: "Query plan" }, query.plan.join("\n")));
  }
  const answer = element("span", { id: "tested", role: "status" });
  panel.append(element("p", {}, element("button", {
    type: "button", id: "test", onclick: () => testConnection((text) => (answer.textContent = text)),
  }, "Test the connection"), " ", answer));
}

/** The SELECT as the tab has it, unless it needs what only a configuration gives it. */
function explorationOf({ sql, parameters }, { addressOfExploration }) {
  if (!sql || parameters.length > 0 || claimedNames({ sql, parameters }).length > 0) return "";
  return element("p", {}, element("a", { href: addressOfExploration(sql) }, "Explore this SELECT"));
}

/** Named for the tables that it reads. */
function configuration({ explored, commits = [] }, { configurationOf }) {
  const yaml = configurationOf(explored, commits.flatMap(({ tables }) => tables).sort().join("-"));
  const text = element("pre", { id: "configuration" }, yaml.trimEnd());
  const copied = element("span", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(yaml);
      return "Copied.";
    } catch {
      // Over plain HTTP from another machine a page has no clipboard.
      getSelection().selectAllChildren(text);
      return "Selected: copy it with Ctrl-C.";
    }
  };
  return element("section", {}, text, element("p", {}, element("button", {
    type: "button", id: "copy",
    onclick: async () => (copied.textContent = await copy()),
  }, "Copy as configuration"), " ", copied));
}

/** For a shell, to which all but an apostrophe is text between two. */
export const curlCommand = (url, needsToken) =>
  `curl -N ${needsToken ? '-H "Authorization: Bearer $TOKEN" ' : ""}'${url.replaceAll("'", "%27")}'`;

/** The arguments of the statement that nobody is asked for; only operators see the statement. */
export function claimedNames({ sql = "", parameters }) {
  const code = sql.replace(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[^]*?\*\//g, " ");
  const names = new Set([...code.matchAll(/[:@$]([A-Za-z_]\w*)/g)].map(([, name]) => name));
  return [...names].filter((name) => !parameters.some((parameter) => parameter.name === name));
}

const code = (text) => element("code", {}, text);

/** The statement with its keywords marked, as far as they are written large: for the eye only. */
function highlighted(sql) {
  // A split by a pattern with one group gives text and keyword in turn.
  return sql.split(/\b([A-Z]{2,})\b/).map((part, index) => (index % 2 ? element("b", {}, part) : part));
}
