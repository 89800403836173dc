/** A record in full: its values and JSON, where it is, and what has happened to it; all of it live. */

import { keyOf } from "../didchange.js";
import { element, style } from "./dom.js";
import { historyOf } from "./history.js";
import { jsonText } from "./values.js";

/** Pixels. */
const pictureHeight = 160;

await style("page/record.css");

/**
 * Opens a dialog; when it is closed, focus is on the row again.
 *
 * @param view a QueryView
 * @param record one of its records, which is followed by its key
 */
export function showRecord(view, record) {
  const key = keyOf(record);
  const title = key ? `${view.title}: ${key.map(String).join(", ")}` : view.title;
  const cells = view.cells(pictureHeight);
  const body = element("div", { className: "body", tabIndex: 0 });
  const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = element("dialog", { className: "inspector", ariaLabel: title },
    element("div", { className: "head" }, element("h2", {}, title), close), body);
  const following = new AbortController();
  let shown = "";
  const show = () => {
    const present = find(view, key) ?? (key ? null : { record });
    record = present?.record ?? record;
    const history = historyOf(view.query.name).of(key);
    // What is read or marked stays as it is as long as it is right.
    const state = jsonText([record, present?.indexPath ?? !present, history.length]);
    if (state === shown) return;
    shown = state;
    body.replaceChildren(
      list({ ...place(view, key, present, cells), ...values(view, record, cells) }),
      part("JSON", element("pre", {}, jsonText(record, 2))),
      part("Since this page was opened", history.length > 0
        ? element("ol", {}, ...history.map(entryNode))
        : element("p", {}, key ? "Nothing has happened to it." : "It has no key by which it could be followed.")));
  };
  view.addEventListener("drawn", show, { signal: following.signal });
  view.addEventListener("close", () => dialog.close(), { signal: following.signal });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    following.abort();
    dialog.remove();
  });
  show();
  document.body.append(dialog);
  dialog.showModal();
}

/** `{record, indexPath, section}` of a record that is loaded, in the whole result; else nothing. */
function find({ controller, offset, sections }, key) {
  const path = key && controller.indexPathFor(key);
  if (!path) return null;
  const record = controller.recordAt(path);
  let item = offset + path[1];
  for (const { records } of controller.sections.slice(0, path[0])) item += records.length;
  for (const [index, { name, numberOfRecords }] of sections.entries()) {
    if (item < numberOfRecords) return { record, indexPath: [index, item], section: name };
    item -= numberOfRecords;
  }
  return { record };
}

function place(view, key, present, cells) {
  const { indexPath, section } = present ?? {};
  return {
    Key: key ? jsonText(key) : "none",
    "Index path": indexPath ? jsonText(indexPath) : present ? undefined : "none: it is not in the list any more",
    Section: view.query.section && section !== undefined ? cells(section) : undefined,
  };
}

const values = (view, record, cells) => Object.fromEntries(
  view.query.columns.map((column) => [`\u2009${column}`, cells(record[column], column)]));

/** The names of columns are told from the rest by how they are written. */
function list(facts) {
  const node = element("dl");
  for (const [term, fact] of Object.entries(facts)) {
    if (fact === undefined) continue;
    const isColumn = term.startsWith("\u2009");
    node.append(element("dt", {}, isColumn ? element("code", {}, term.slice(1)) : term), element("dd", {}, fact));
  }
  return node;
}

const part = (title, content) => element("section", {}, element("h3", {}, title), content);

function entryNode({ type, commit, time, indexPath, newIndexPath, values }) {
  const [from, to] = [indexPath, newIndexPath].map((path) => path && jsonText(path));
  const where = from && to && from !== to ? `${from} → ${to}` : to ?? from;
  return element("li", {},
    element("p", {}, element("b", { className: type }, type), ` ${where}, commit ${commit} `,
      element("time", {}, time.toLocaleTimeString("en-GB"))),
    ...values.map(([column, old, now]) =>
      element("p", {}, element("code", {}, column), ` ${jsonText(old)} → ${jsonText(now)}`)));
}
