/**
 * The records as a table: a body per section, a row per record. A row belongs to its record for life:
 * it is changed and moved, never drawn anew, so that what a person looks at stays the same thing.
 */

import { element } from "./dom.js";
import { fadeIn, Motion, wash } from "./motion.js";
import { kindOf, valueNode, valueText } from "./values.js";
import { visiblePart } from "./visible.js";

/** Rows looked at to see which columns hold numbers. */
const sample = 50;
/** From so many columns on, a telephone shows each record as a card. */
const manyColumns = 5;

export class RecordsTable {
  #columns;
  #section;
  #motion;
  #table = element("table");
  #head = element("thead");
  #more = element("p", { className: "more" });
  #empty = element("p", { className: "empty-result", hidden: true }, "No records.");
  /** Columns that hold numbers. */
  #numbers = new Set();
  /** The result that the next change's old index paths count in. */
  #sections = [];
  /** Record → row, of what is drawn. */
  #rows = new Map();
  /** Section name → body. */
  #bodies = new Map();
  /** Record → what happened to it since the last drawing: `{type, columns}`. */
  #marks = new WeakMap();
  #leaving = new Set();
  #drawing = 0;

  /** `section` is a column or an SQL expression; null: the result has no sections. */
  constructor(pane, { columns, section, caption }) {
    this.#columns = columns;
    this.#section = section;
    this.#motion = new Motion(pane);
    this.#table.classList.toggle("many-columns", columns.length >= manyColumns);
    // Roles say again what the tags do: CSS that lays rows out as cards takes away the tags' own.
    this.#table.role = "table";
    this.#table.append(
      element("caption", { className: "visually-hidden" }, caption), this.#head);
    pane.replaceChildren(this.#table, this.#empty, this.#more);
  }

  /** Forgets what was drawn: a snapshot says nothing of how its records came about. */
  show(sections) {
    this.#sections = sections;
    for (const body of this.#bodies.values()) body.remove();
    this.#bodies.clear();
    this.#rows.clear();
    this.#draw();
  }

  /** Notes one record change of the change set that makes the next result. */
  note({ type, indexPath, record, changes }) {
    if (type === "insertion") return this.#marks.set(record, { type, columns: new Set() });
    const old = this.#sections[indexPath[0]].records[indexPath[1]];
    const row = this.#rows.get(old);
    if (row) this.#rows.delete(old);
    if (type === "deletion") return row && this.#leaving.add(row);
    if (row) this.#rows.set(record, row);
    this.#marks.set(record, mergedMark(this.#marks.get(old), type, Object.keys(changes)));
  }

  /** The change set is complete. Drawing waits for the next frame, so that many cost one. */
  finish(sections) {
    this.#sections = sections;
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#motion.run(this.#standing(), () => this.#draw());
    });
  }

  /** What is in the document before a drawing, by what the drawing will do to it. */
  #standing() {
    const steady = [...this.#table.querySelectorAll(".section")];
    const moved = [];
    for (const [record, row] of this.#rows) {
      (this.#marks.get(record)?.type === "move" ? moved : steady).push(row);
    }
    return { steady, moved, leaving: [...this.#leaving] };
  }

  remove() {
    cancelAnimationFrame(this.#drawing);
  }

  #draw() {
    if (this.#rows.size === 0) this.#drawHead();
    const { sections, sectionsLeft } = visiblePart(this.#sections);
    this.#discard(sections);
    let place = this.#head.nextSibling;
    for (const section of sections) {
      const body = this.#bodies.get(section.name) ?? element("tbody", { role: "rowgroup" });
      this.#bodies.set(section.name, body);
      if (body === place) place = body.nextSibling;
      else this.#table.insertBefore(body, place);
      this.#fill(body, section);
    }
    this.#marks = new WeakMap();
    this.#leaving.clear();
    this.#empty.hidden = this.#rows.size > 0;
    this.#more.textContent = sectionsLeft > 0 ? `${number(sectionsLeft)} more sections` : "";
  }

  /** Takes out what leaves and the rows that move: what stays is then in order. */
  #discard(sections) {
    const names = new Set(sections.map(({ name }) => name));
    for (const [name, body] of this.#bodies) {
      if (names.has(name)) continue;
      body.remove();
      this.#bodies.delete(name);
    }
    const drawn = new Set(sections.flatMap(({ records }) => records));
    for (const [record, row] of this.#rows) {
      if (drawn.has(record) && this.#marks.get(record)?.type !== "move") continue;
      row.remove();
      if (!drawn.has(record)) this.#rows.delete(record);
    }
    for (const row of this.#leaving) row.remove();
  }

  #fill(body, { name, size, records }) {
    const head = this.#section === null ? null : this.#headOf(body, name, size);
    let place = head ? head.nextSibling : body.firstChild;
    for (const record of records) {
      const row = this.#rowFor(record);
      if (row === place) place = row.nextSibling;
      else body.insertBefore(row, place);
    }
    this.#note(body, size - records.length);
  }

  #rowFor(record) {
    const mark = this.#marks.get(record);
    let row = this.#rows.get(record);
    if (row) this.#refresh(row, record, mark);
    else {
      row = this.#rowOf(record);
      this.#rows.set(record, row);
      if (mark) fadeIn(row);
    }
    row.classList.toggle("moved", mark?.type === "move");
    if (mark && mark.type !== "update") wash(row, mark.type);
    return row;
  }

  #rowOf(record) {
    const row = element("tr", { role: "row" });
    for (const column of this.#columns) {
      const cell = element("td", { role: "cell", className: this.#columnClass(column) });
      cell.dataset.label = column;
      setValue(cell, record[column]);
      row.append(cell);
    }
    return row;
  }

  #refresh(row, record, mark) {
    for (const column of mark?.columns ?? []) {
      const cell = row.cells[this.#columns.indexOf(column)];
      if (!cell) continue;
      setValue(cell, record[column]);
      wash(cell, "update");
    }
  }

  #columnClass(column) {
    return [this.#numbers.has(column) && "number", column === this.#section && "sectioning"]
      .filter(Boolean).join(" ");
  }

  /** Which columns hold numbers shows in the first records only. */
  #drawHead() {
    this.#numbers = numberColumns(this.#columns, this.#sections);
    const row = element("tr", { role: "row" });
    for (const column of this.#columns) {
      row.append(element("th",
        { scope: "col", role: "columnheader", className: this.#columnClass(column) }, column));
    }
    this.#head.replaceChildren(row);
  }

  #headOf(body, name, size) {
    if (!body.firstChild) {
      const head = element("th",
        { colSpan: this.#columns.length, scope: "rowgroup", role: "rowheader" },
        element("span", { className: "name" }, valueNode(name)),
        element("span", { className: "count" }));
      body.append(element("tr", { className: "section", role: "row" }, head));
    }
    body.querySelector(".count").textContent = number(size);
    return body.firstChild;
  }

  /** The last row of a body that is not drawn in full. */
  #note(body, left) {
    const last = body.lastElementChild;
    if (last?.className === "rest") last.remove();
    if (left === 0) return;
    const text = `${number(left)} more`;
    const cell = element("td", { colSpan: this.#columns.length, role: "cell" }, text);
    body.append(element("tr", { className: "rest", role: "row" }, cell));
  }
}

const number = (value) => value.toLocaleString("en");

function setValue(cell, value) {
  cell.replaceChildren(valueNode(value));
  cell.title = kindOf(value) === "text" ? valueText(value) : "";
}

/** A record may change more than once before it is drawn: what was inserted or moved stays that. */
function mergedMark(earlier, type, columns) {
  const strongest = earlier?.type === "insertion" ? "insertion"
    : earlier?.type === "move" ? "move" : type;
  return { type: strongest, columns: new Set([...(earlier?.columns ?? []), ...columns]) };
}

function numberColumns(columns, sections) {
  const records = sections.slice(0, sample).flatMap((section) => section.records.slice(0, sample));
  const first = (column) => records.find((record) => record[column] !== null)?.[column];
  return new Set(columns.filter((column) => kindOf(first(column)) === "number"));
}
