/** The rows of the list, a cell for each column, and the head above them: it sorts, and makes columns wider. */

import { element } from "./dom.js";
import { kindOf, valueNode, valueText } from "./values.js";

/** Rem: the room of a column of numbers or pictures, what a column of text has at least and at most, and one letter. */
const [narrow, least, most, letter] = [4.5, 5.5, 9, 0.5];
/** Pixels: a column that was made narrower, and a key's step. */
const [narrowest, step] = [40, 16];

export class RowMaker {
  #columns;
  #node;
  #sort;
  #isNumber = [];
  #isMeasured = false;
  /** `[least, track]` of each column; pixels once somebody has chosen them. */
  #widths = [];
  #pane;

  /**
   * @param query its `columns`, and which orders sort by them: `orderedBy`
   * @param node makes what a value of a column is shown by
   * @param sort is given the name of an order
   */
  constructor({ columns, orderedBy = {} }, node = valueNode, sort = () => {}) {
    this.#columns = columns;
    this.#node = node;
    this.#sort = sort;
    this.head = element("div", { role: "rowgroup", className: "columns" },
      element("div", { role: "row", className: "record" },
        ...columns.map((column, index) => this.#headOf(column, index, orderedBy[column]))));
  }

  get #heads() { return [...this.head.firstChild.children]; }

  #headOf(column, index, orders) {
    const name = orders
      ? element("button", { type: "button", className: "sort" }, column) : element("span", {}, column);
    const handle = element("span", { className: "handle", role: "separator", tabIndex: 0,
      ariaOrientation: "vertical", ariaLabel: `Width of ${column}`, title: "Drag, or ← →; twice: as it was" });
    const head = element("span", { role: "columnheader", ariaLabel: column, title: column }, name, handle);
    head.orders = orders;
    if (orders) name.onclick = () => this.#sort(nextOrder(orders, head.ariaSort));
    this.#listen(handle, head, index);
    return head;
  }

  /** Which column the records are sorted by, that of an order. */
  showOrder(order) {
    for (const head of this.#heads) {
      const [direction] = Object.entries(head.orders ?? {}).find(([, name]) => name === order) ?? [];
      head.ariaSort = direction ?? (head.orders ? "none" : null);
    }
  }

  #listen(handle, head, index) {
    const widen = (width) => this.#widen(index, width);
    handle.onpointerdown = (event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      const from = head.offsetWidth - event.clientX;
      handle.onpointermove = ({ clientX }) => widen(from + clientX);
    };
    handle.onpointerup = handle.onpointercancel = () => (handle.onpointermove = null);
    handle.ondblclick = () => widen(null);
    handle.onkeydown = (event) => {
      const by = { ArrowLeft: -step, ArrowRight: step }[event.key];
      if (!by && event.key !== "Home") return;
      event.preventDefault();
      widen(by ? head.offsetWidth + by : null);
    };
  }

  /** @param width in pixels; null: as it was */
  #widen(index, width) {
    const pixels = width && `${Math.round(Math.max(narrowest, width))}px`;
    this.#widths[index] = { ...this.#widths[index], chosen: pixels && [pixels, pixels] };
    this.#apply();
  }

  #apply() {
    const widths = this.#widths.map(({ chosen, usual }) => chosen ?? usual);
    const { style } = this.#pane;
    style.setProperty("--columns", widths.map(([, track]) => track).join(" "));
    // What the rows have at least: narrower panes scroll.
    style.setProperty("--width", `calc(${widths.map(([least]) => least).join(" + ")} + ${0.8 * (widths.length - 1) + 1.2}rem)`);
    this.#heads.forEach((head) => (head.lastChild.ariaValueNow = String(head.offsetWidth)));
  }

  /** How much room columns need, the first records show. */
  measure(pane, records) {
    if (this.#isMeasured) return;
    this.#isMeasured = records.length > 0;
    this.#pane = pane;
    const first = records.slice(0, 50);
    this.#widths = this.#columns.map((column, index) => {
      const values = first.map((record) => record[column]).filter((value) => value !== null);
      this.#isNumber[index] = kindOf(values[0]) === "number";
      const longest = Math.max(column.length + 2, ...values.map((value) => valueText(value).length)) * letter;
      const isNarrow = this.#isNumber[index] || values[0]?.url;
      const room = isNarrow ? `${Math.min(most, Math.max(narrow, (column.length + 2) * letter))}rem`
        : `${Math.min(most, Math.max(least, longest))}rem`;
      return { usual: [room, isNarrow ? room : `minmax(${room}, 1fr)`] };
    });
    this.#apply();
    this.#heads.forEach((head, index) => head.classList.toggle("number", this.#isNumber[index]));
  }

  row = (record, node = element("div", { role: "row", className: "record" })) => {
    node.record = record;
    if (!node.hasAttribute("tabindex")) node.tabIndex = -1;
    this.#columns.forEach((column, index) => {
      const cell = node.children[index] ?? node.appendChild(element("span", { role: "cell" }));
      const value = record?.[column];
      if (cell.value === value && record) return;
      cell.value = value;
      cell.dataset.column = column;
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

/** The other way round; first upwards, where there is such an order. */
export const nextOrder = ({ ascending, descending }, present) =>
  (present === "ascending" ? descending ?? ascending : ascending ?? descending);

/** Tints an element for a while; what scrolls beneath it stays hidden. */
function wash(node, type) {
  const colour = `color-mix(in srgb, var(--${type}) 22%, var(--paper))`;
  node?.animate({ backgroundColor: [colour, colour, "var(--paper)"] }, 1600);
}
