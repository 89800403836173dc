/** Where the live window of a long list goes while it is scrolled: ahead, and farther the faster it is. */

/** Screens of a window before and behind what is in sight, and ahead of it while it is scrolled. */
const [around, ahead] = [1, 2];
/**
 * Records of a window that grows as it goes. What is left behind is dropped all at once, for then a
 * snapshot is the shortest way: to be told of a record that leaves costs as much as one that comes.
 * Where the server answers with all of a window that has grown, windows do not grow for some milliseconds.
 */
const [longest, ungrown] = [800, 60_000];
/** Records that may pass until a window is here, as far as that is provided for; screens at once that are a jump. */
const [farthest, jump] = [400, 10];
/** Milliseconds that a window may come late: it is asked for in one frame, drawn in another, and all have other work. */
const late = 100;
/** Milliseconds after which a move that nobody heard of is over: it may have shown the same records. */
export const longMove = 1000;

/** Times are in milliseconds, and places and windows in records. */
export class Course {
  /** When the window was moved and has not arrived, how long that takes, and whether it has grown. */
  #moved = -Infinity;
  #lag = 100;
  #hasGrown = false;
  #growsAt = -Infinity;
  /** The way of the last scrolling, 1 is down; records passed in a millisecond; and when that was. */
  #way = 0;
  #speed = 0;
  #scrolledAt = -Infinity;

  /** By so many records, of so many in sight. */
  scrolled(by, screen, now) {
    const speed = by / Math.max(now - this.#scrolledAt, 8);
    const before = this.#way === Math.sign(by) ? this.#speed : 0;
    // A frame that took long is not the end of it.
    this.#speed = Math.abs(by) > jump * screen ? 0 : nearer(before, speed);
    this.#way = Math.sign(by) || this.#way;
    this.#scrolledAt = now;
  }

  get isMoving() { return this.#moved > -Infinity; }

  rested(now) {
    this.#way = this.#speed = 0;
    if (now - this.#moved >= longMove) this.#moved = -Infinity;
  }

  /** What is asked for is here. */
  arrived(isSnapshot, now) {
    if (this.#hasGrown && isSnapshot) this.#growsAt = now + ungrown;
    const lag = now - this.#moved;
    if (lag < longMove) this.#lag = nearer(this.#lag, lag);
    this.#moved = -Infinity;
    this.#hasGrown = false;
  }

  /**
   * The next window, where the present one ends close to what is in sight or soon will be; null: none,
   * or one is on its way.
   */
  next([first, last], numberOfRecords, { offset = 0, limit = Infinity }, now) {
    const screen = Math.max(last - first, 10);
    // What passes until it is here: twice as much until the one after it is.
    const passing = Math.min(Math.abs(this.#speed) * (this.#lag + late), farthest);
    const [up, down] = this.#way < 0 ? [passing, 0] : [0, passing];
    const [above, below] = [first - Math.max(screen / 2, up), last + Math.max(screen / 2, down)];
    const isInside = Math.max(0, above) >= offset && Math.min(numberOfRecords, below) <= offset + limit;
    if (isInside || numberOfRecords === 0 || now - this.#moved < longMove) return null;
    this.#moved = now;
    const start = first - Math.max(screen * (this.#way < 0 ? ahead : around), 2 * up);
    const end = last + Math.max(screen * (this.#way > 0 ? ahead : around), 2 * down);
    const wanted = rangeOf(Math.max(0, Math.floor(start)), Math.ceil(end));
    const grown = now > this.#growsAt ? union(wanted, { offset, limit }) : null;
    this.#hasGrown = grown !== null;
    return grown ?? wanted;
  }
}

/** An average that rises fast and falls slowly: who is told too little sees gaps. */
const nearer = (average, value) =>
  average + (Math.abs(value) > Math.abs(average) ? 0.6 : 0.2) * (value - average);

const rangeOf = (start, end) => ({ offset: start, limit: end - start });

/** Both of two windows that overlap, unless that is too long. */
function union(one, other) {
  const start = Math.min(one.offset, other.offset);
  const end = Math.max(one.offset + one.limit, other.offset + other.limit);
  const isOne = end - start <= one.limit + other.limit;
  return isOne && end - start <= longest ? rangeOf(start, end) : null;
}
