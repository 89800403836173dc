/** The rows of the list: a cell for each column. */

import { element } from "./dom.js";
import { kindOf, valueNode } from "./values.js";

export class RowMaker {
  #columns;
  #node;
  #isNumber = [];
  #isMeasured = false;

  /** @param node makes what a value of a column is shown by */
  constructor(columns, node = valueNode) {
    this.#columns = columns;
    this.#node = node;
    this.head = element("div", { role: "rowgroup", className: "columns" },
      element("div", { role: "row", className: "record" },
        ...columns.map((column) => element("span", { role: "columnheader" }, column))));
  }

  /** Which columns hold numbers, and need little room, the first records show. */
  measure(pane, records) {
    if (this.#isMeasured) return;
    this.#isMeasured = records.length > 0;
    const first = records.slice(0, 50);
    this.#isNumber = this.#columns.map((column) =>
      kindOf(first.find((record) => record[column] !== null)?.[column]) === "number");
    pane.style.setProperty("--columns",
      this.#isNumber.map((is) => (is ? "4.5rem" : "minmax(0, 1fr)")).join(" "));
    this.#isNumber.forEach((is, index) =>
      this.head.firstChild.children[index].classList.toggle("number", is));
  }

  row = (record, node = element("div", { role: "row", className: "record" })) => {
    this.#columns.forEach((column, index) => {
      const cell = node.children[index] ?? node.appendChild(element("span", { role: "cell" }));
      const value = record?.[column];
      if (cell.value === value && record) return;
      cell.value = value;
      cell.className = this.#isNumber[index] ? "number" : "";
      cell.replaceChildren(record ? this.#node(value, column) : "");
      cell.title = cell.textContent;
    });
    return node;
  };

  section = ({ name, records, numberOfRecords = records.length }, node = element("div", { role: "row" })) => {
    node.className = "section";
    node.replaceChildren(
      element("span", { className: "name", role: "rowheader" }, valueNode(name)),
      element("span", { className: "count", role: "cell" }, numberOfRecords.toLocaleString("en")));
    return node;
  };

  changed = (node, { type, changes }) => {
    if (type !== "update") return wash(node, type);
    for (const column in changes) wash(node.children[this.#columns.indexOf(column)], type);
  };
}

/** Tints an element for a while. */
function wash(node, type) {
  const colour = `color-mix(in srgb, var(--${type}) 22%, transparent)`;
  node?.animate({ backgroundColor: [colour, colour, "transparent"] }, 1600);
}
