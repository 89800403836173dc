/** The tab in which any SELECT is typed in, and becomes a live query for a while. */

import { byId, element, style } from "./dom.js";
import { addressOfExploration, placeOf, rangeOf } from "./explore.js";
import { addressOf } from "./view.js";

/** Milliseconds between two times that the same is asked for without anybody's wish. */
const patience = 5000;

await style("page/explore.css");
const form = byId("explorer");

/**
 * Shows the form with a SELECT, and what that gives.
 *
 * @param page `get` asks the server, `open` gives the view of a query, `fail` shows an error and tries again;
 *   `isLeft` says that something else was chosen
 */
export async function explore(sql, page) {
  showForm(sql);
  if (!sql) return;
  const asked = Date.now();
  // A server that has begun anew, or has made room, does not know what was explored.
  const again = () => setTimeout(() => page.isLeft() || explore(sql, page), Math.max(0, asked + patience - Date.now()));
  try {
    const { name } = await page.get(`v1/explore?sql=${encodeURIComponent(sql)}`, { method: "POST" });
    const query = await page.get(addressOf(name));
    if (page.isLeft()) return;
    byId("about").open = matchMedia("(min-width: 1000px)").matches;
    const { controller } = page.open({ ...query, title: "Explore", explored: sql });
    // The same controller may be opened again.
    const onState = ({ detail }) => {
      if (detail !== "closed") return;
      controller.removeEventListener("state", onState);
      again();
    };
    controller.addEventListener("state", onState);
  } catch (error) {
    if (page.isLeft()) return;
    if (error.problem?.status === 400) showMistake(error.problem.detail);
    else page.fail(error, () => explore(sql, page));
  }
}

function showForm(sql) {
  form.hidden = false;
  if (form.elements.length === 0) makeForm();
  showMistake(null);
  const { text } = form.elements;
  if (text.value.trim() !== sql) text.value = sql;
  if (!sql) text.focus();
}

function makeForm() {
  const text = element("textarea", { name: "text", id: "sql", rows: 3, required: true, spellcheck: false,
    autocapitalize: "none", placeholder: "SELECT …" });
  text.setAttribute("aria-describedby", "mistake");
  form.append(
    element("label", { htmlFor: "sql" }, "Any SELECT"), text,
    element("p", { id: "mistake", role: "alert", hidden: true }),
    element("p", {}, element("button", {}, "Show"),
      element("span", { className: "type" }, "Ctrl-Enter. It is live as long as somebody looks at it.")));
  form.onsubmit = (event) => {
    event.preventDefault();
    const hash = addressOfExploration(text.value.trim());
    // The same once more is asked for once more.
    if (hash === location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = hash;
  };
  text.addEventListener("keydown", ({ key, ctrlKey, metaKey }) =>
    key === "Enter" && (ctrlKey || metaKey) && form.requestSubmit());
}

/** What is wrong, below the text, and the place in it; null: nothing. */
function showMistake(detail) {
  const { text } = form.elements;
  const mistake = byId("mistake");
  mistake.hidden = !detail;
  mistake.textContent = detail ?? "";
  text.ariaInvalid = detail ? "true" : null;
  const place = detail && placeOf(detail);
  if (!place) return;
  text.focus();
  text.setSelectionRange(...rangeOf(text.value, ...place));
}
