/**
 * Lets elements travel from where they were to where a change of the document puts them (“FLIP”),
 * and keeps the reading place while rows come and go above it.
 */

const travelTime = 420;
const fadeTime = 320;
const washTime = 1600;
/** More rows that leave at once just go. */
const maximumGhosts = 40;

const calmer = matchMedia("(prefers-reduced-motion: reduce)");
const still = () => calmer.matches || document.hidden;

/** Tints an element in the colour of a kind of change and lets the tint fade. */
export function wash(node, type) {
  if (document.hidden) return;
  node.animate(
    { backgroundColor: [`var(--${type}-wash)`, `var(--${type}-wash)`, "transparent"] },
    { duration: washTime, easing: "ease-out" });
}

export function fadeIn(node) {
  if (still()) return;
  node.animate({ opacity: [0, 1] }, { duration: fadeTime, easing: "ease-out" });
}

/** A ring spreads from a node. */
export function beat(node) {
  if (still()) return;
  node.animate(
    { boxShadow: ["0 0 0 0 currentColor", "0 0 0 .5rem transparent"] },
    { duration: 900, easing: "ease-out" });
}

export class Motion {
  /** Element → its animation. */
  #travels = new WeakMap();

  /** @param {HTMLElement} pane what the elements scroll in, where the layout makes it scroll */
  constructor(pane) {
    this.pane = pane;
  }

  /**
   * Lets `mutate` change the document. `steady` are the elements that only shift when others come and
   * go, `moved` those that leave their place, `leaving` those that it takes away for good.
   */
  run({ steady, moved, leaving }, mutate) {
    const view = this.#view();
    const elements = [...steady, ...moved];
    const tops = new Map(elements.map((node) => [node, node.getBoundingClientRect().top]));
    const ghosts = still() ? [] : leaving
      .filter((node) => inside(node.getBoundingClientRect(), view))
      .slice(0, maximumGhosts)
      .map((node) => this.#ghostOf(node));
    // An earlier travel that is still under way goes on from where it has come to.
    for (const node of elements) this.#travels.get(node)?.cancel();
    mutate();
    this.#keepReadingPlace(steady, tops, view);
    for (const ghost of ghosts) this.#dismiss(ghost);
    if (!still()) this.#play(tops, view);
  }

  /** The visible part of the list, in the coordinates of getBoundingClientRect. */
  #view() {
    const scrolls = getComputedStyle(this.pane).overflowY === "auto";
    const scroller = scrolls ? this.pane : document.scrollingElement;
    const { top, bottom } = this.pane.getBoundingClientRect();
    return { scroller, top: Math.max(top, 0), bottom: Math.min(bottom, innerHeight) };
  }

  /** The browser's own scroll anchoring is off: it acts too late to be measured here. */
  #keepReadingPlace(steady, tops, { scroller, top }) {
    if (scroller.scrollTop === 0) return;
    const seen = steady.filter(
      (node) => node.isConnected && tops.get(node) >= top && node.className !== "section");
    if (seen.length === 0) return;
    const topmost = seen.reduce((a, b) => (tops.get(b) < tops.get(a) ? b : a));
    scroller.scrollTop += topmost.getBoundingClientRect().top - tops.get(topmost);
  }

  #play(tops, view) {
    for (const [node, before] of tops) {
      if (!node.isConnected) continue;
      const rect = node.getBoundingClientRect();
      const by = before - rect.top;
      const was = { top: before, bottom: before + rect.height };
      const seen = inside(rect, view) || inside(was, view);
      if (Math.abs(by) < 1 || !seen) continue;
      this.#travels.set(node, node.animate(
        { transform: [`translateY(${by}px)`, "none"] },
        { duration: travelTime, easing: "cubic-bezier(.2, .8, .2, 1)" }));
    }
  }

  /** A picture of a row that is about to go: a table of its own, laid over the row. */
  #ghostOf(row) {
    const ghost = row.closest("table").cloneNode(false);
    const copy = row.cloneNode(true);
    for (const [index, { offsetWidth }] of [...row.cells].entries()) {
      copy.cells[index].style.width = `${offsetWidth}px`;
    }
    ghost.append(copy);
    ghost.classList.add("ghost");
    ghost.ariaHidden = "true";
    const pane = this.pane.getBoundingClientRect();
    const { left, top, width } = row.getBoundingClientRect();
    ghost.style.left = `${left - pane.left + this.pane.scrollLeft}px`;
    ghost.style.top = `${top - pane.top + this.pane.scrollTop}px`;
    ghost.style.width = `${width}px`;
    return ghost;
  }

  #dismiss(ghost) {
    this.pane.append(ghost);
    ghost.animate(
      { opacity: [1, 0], transform: ["none", "translateX(1.5rem)"] },
      { duration: fadeTime, easing: "ease-in", fill: "forwards" },
    ).finished.then(() => ghost.remove(), () => ghost.remove());
  }
}

const inside = (rect, view) => rect.bottom > view.top && rect.top < view.bottom;
