/** Lets elements travel to where a change puts them (“FLIP”). */

const travel = { duration: 300, easing: "cubic-bezier(.2, .8, .2, 1)" };
const calmer = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether nothing should move: nobody looks, or somebody asked for it. */
export const isStill = () => calmer.matches || document.hidden;

export function slide(node, by) {
  node.animate({ transform: [`translateY(${by}px)`, "none"] }, { ...travel, composite: "add" });
}

export function fadeIn(node) {
  if (!isStill()) node.animate({ opacity: [0, 1] }, travel);
}

/** Calls back once, in the next frame, or now and then where nobody looks. */
export function drawer(draw, signal) {
  let isAsked = false;
  const run = () => {
    isAsked = false;
    if (!signal?.aborted) draw();
  };
  return () => {
    if (isAsked) return;
    isAsked = true;
    if (document.hidden) setTimeout(run, 250);
    else requestAnimationFrame(run);
  };
}

/** Of more elements than that, those are measured that are within a screen of what is seen. */
const few = 500;

const top = (node) => node.getBoundingClientRect().top;

/** `added` is what is new, when it is over. */
export function flip(elements, mutate, added) {
  if (isStill()) return mutate();
  const measured = () => new Map(near(elements).map((node) => [node, top(node)]));
  const before = measured();
  mutate();
  const isSeen = (y) => y > -200 && y < innerHeight;
  // All are measured first: what is animated has its style made anew.
  for (const [node, is] of measured()) {
    const was = before.get(node) ?? is;
    if (added.has(node)) fadeIn(node);
    else if (Math.abs(was - is) >= 1 && (isSeen(was) || isSeen(is))) slide(node, was - is);
  }
}

/** O(log n), for each of many stands below the one before. */
function near(elements) {
  if (elements.length <= few) return [...elements];
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (top(elements[middle]) < -innerHeight) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let node = elements[low]; node && top(node) < 2 * innerHeight; node = node.nextElementSibling) found.push(node);
  return found;
}
