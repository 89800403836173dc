/** The index at the side of a long list, as in a telephone's contacts: touch, drag, or tab to it. */

/** Pixels a title takes at least. */
const titleHeight = 14;

export class SectionIndex {
  #element;
  #list;
  /** `[title, section]` of all titles. */
  #titles = [];
  #shown = "";

  /** @param {VirtualList} list */
  constructor(element, list) {
    this.#element = element;
    this.#list = list;
    element.onclick = ({ target }) => "section" in target.dataset && this.#go(target);
    element.onpointerdown = (event) => event.preventDefault();
    element.onpointermove = ({ buttons, clientX, clientY }) => {
      const target = buttons === 1 && document.elementFromPoint(clientX, clientY);
      if (target && target.parentNode === element) this.#go(target);
    };
  }

  /** Shows the titles of the list as it is now. */
  update() {
    const { sections, currentSection } = this.#list;
    this.#titles = titlesOf(sections);
    const shown = this.#titles.map(([title, section]) => title + section).join();
    if (shown !== this.#shown) this.#draw();
    this.#shown = shown;
    let current = null;
    for (const button of this.#element.children) {
      if (Number(button.dataset.section) <= currentSection) current = button;
    }
    for (const button of this.#element.children) {
      if (button === current) button.ariaCurrent = "true";
      else button.removeAttribute("aria-current");
    }
  }

  #go(button) { this.#list.showSection(Number(button.dataset.section)); }

  #draw() {
    this.#element.hidden = this.#titles.length < 2;
    const room = Math.max(2, Math.floor(this.#element.clientHeight / titleHeight));
    const step = Math.ceil(this.#titles.length / room);
    this.#element.replaceChildren(...this.#titles.filter((_, index) => index % step === 0)
      .map(([title, section]) => {
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: title });
        button.dataset.section = section;
        return button;
      }));
  }
}

/** Each title once, with the first section that has it. */
function titlesOf(sections) {
  const titles = new Map();
  sections.forEach(({ indexTitle }, index) => {
    if (indexTitle && !titles.has(indexTitle)) titles.set(indexTitle, index);
  });
  return [...titles];
}

/** The index of a list whose rows are all in the document, as `bind` draws it. */
export class PlainList {
  #pane;
  #controller;

  /** @param {HTMLElement} pane scrolls; heads of sections in it have the class `section` */
  constructor(pane, controller) {
    this.#pane = pane;
    this.#controller = controller;
  }

  get sections() { return this.#controller.sections; }

  get currentSection() {
    const edge = this.#pane.getBoundingClientRect().top + this.#heads[0]?.offsetHeight * 2;
    const below = this.#heads.findIndex(({ nextSibling }) => nextSibling.getBoundingClientRect().top > edge);
    return below < 0 ? this.#heads.length - 1 : Math.max(0, below - 1);
  }

  showSection(index) {
    // The head itself may stick to the top: the row below it does not.
    const head = this.#heads[index];
    const top = Math.max(0, parseFloat(getComputedStyle(head).top) || 0);
    this.#pane.scrollTop = head.nextSibling.offsetTop - head.offsetHeight - top;
  }

  get #heads() { return [...this.#pane.querySelectorAll(".section")]; }
}
