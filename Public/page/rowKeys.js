/** Rows by mouse and by keyboard: of all rows one is in the tab order; arrows go to the others, Enter opens one. */

const rowsOf = "[role=row].record:has(> [role=cell])";

export class RowKeys {
  #pane;
  #open;
  #ending = new AbortController();

  /** `open` is given the row that is clicked, or chosen by Enter. */
  constructor(pane, open) {
    this.#pane = pane;
    this.#open = open;
    const { signal } = this.#ending;
    pane.addEventListener("click", (event) => this.#clicked(event), { signal });
    pane.addEventListener("keydown", (event) => this.#pressed(event), { signal });
    pane.addEventListener("focusin", ({ target }) => target.matches(rowsOf) && this.#enter(target), { signal });
  }

  close() { this.#ending.abort(); }

  /** Rows have come and gone: there is one to come to. */
  drawn() {
    const present = this.#pane.querySelector(`${rowsOf}[tabindex="0"]`);
    if (!present) this.#enter(this.#pane.querySelector(rowsOf));
  }

  #enter(row) {
    for (const other of this.#pane.querySelectorAll(`${rowsOf}[tabindex="0"]`)) other.tabIndex = -1;
    if (row) row.tabIndex = 0;
  }

  #clicked({ target }) {
    const row = target.closest(rowsOf);
    // Who marks text to copy it does not mean the row.
    if (row?.record && !target.closest("a, button") && getSelection().isCollapsed) this.#open(row);
  }

  #pressed(event) {
    const row = event.target;
    if (!row.matches(rowsOf) || event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by) this.#neighbour(row, by)?.focus();
    else if (event.key === "Enter" && row.record) this.#open(row);
    else return;
    event.preventDefault();
  }

  /** In a virtual list rows stand in the document in no order, but they are numbered. */
  #neighbour(row, by) {
    if (row.ariaRowIndex) {
      return this.#pane.querySelector(`${rowsOf}[aria-rowindex="${Number(row.ariaRowIndex) + by}"]`);
    }
    const rows = [...this.#pane.querySelectorAll(rowsOf)];
    return rows[rows.indexOf(row) + by];
  }
}
