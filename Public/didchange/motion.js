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

export function flip(elements, mutate) {
  if (isStill()) return mutate();
  const top = (node) => node.getBoundingClientRect().top;
  const before = new Map(Array.from(elements, (node) => [node, top(node)]));
  mutate();
  const isSeen = (y) => y > -200 && y < innerHeight;
  for (const [node, was] of before) {
    if (!node.isConnected) continue;
    const is = top(node);
    if (Math.abs(was - is) >= 1 && (isSeen(was) || isSeen(is))) slide(node, was - is);
  }
}
