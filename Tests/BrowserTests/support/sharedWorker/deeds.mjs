// What people do with pages, at random.

import { beginningOf, ending, given, tokens } from "./transactions.mjs";

const mostPages = 6;
const mostControllers = 24;
const windows = [null, null, { offset: 2, limit: 5 }, { offset: 0, limit: 4 }];

const pagesOf = ({ pages }) => [...pages.values()];
const someOne = ({ random, open }) => open.size ? random.pick([...open.values()]) : null;
const byCookie = ({ share, text }) => !share && !text;

/** Who asks: a token, a function that may be shared, or whoever the cookie is. */
function someBody({ random }, page) {
  return random.weighed([
    [3, () => ({ text: random.pick(given) })],
    [3, () => {
      if (page.shares.length && random.once(2)) return { share: random.pick(page.shares) };
      const share = `f${page.shares.length} of ${page.name} ${random.number(1, 1e9)}`;
      page.shares.push(share);
      const tokens = Array.from({ length: random.number(1, 3) }, () => random.pick(given));
      return { share, tokens, failures: random.once(8) ? 1 : 0 };
    }],
    [3, () => ({})],
  ])();
}

function oneMore(run, page, query = run.random.pick(["orders", "orders", "shelf", "shelf", "ledger", "notices"]), who = someBody(run, page)) {
  const { random } = run;
  return { name: run.name("c"), query, window: query === "shelf" ? random.pick(windows) : null, ...who };
}

async function openSome(run) {
  if (!run.pages.size || run.open.size >= mostControllers) return;
  const page = run.random.pick(pagesOf(run));
  const opened = Array.from({ length: run.random.number(1, 3) }, () => oneMore(run, page));
  await run.exchange(page.name, [], null, opened);
}

async function closeOne(run) {
  const one = someOne(run);
  if (one) await run.exchange(one.page, [one.name], null, []);
}

async function moveWindow(run) {
  const one = run.random.pick([...run.open.values()].filter(({ query }) => query === "shelf"));
  if (!one) return;
  const window = run.random.pick(windows);
  run.say(`${one.name} is moved to ${window?.offset}`);
  await run.within(one.page, "moveOne", one.name, window);
}

async function fetchPage(run) {
  const one = someOne(run);
  if (!one) return;
  run.say(`${one.name} fetches its records`);
  await run.within(one.page, "fetchPage", one.name, run.random.number(1, 1e9));
}

/** All lists of a page are somebody else's, at once, at the same addresses. */
async function switchIdentity(run) {
  const { random } = run;
  if (!run.pages.size) return;
  const page = random.pick(pagesOf(run));
  const old = [...run.open.values()].filter((one) => one.page === page.name && !byCookie(one));
  const who = { text: random.pick(given) };
  await run.exchange(page.name, old.map(({ name }) => name), null, old.map(({ query }) => oneMore(run, page, query, who)));
  run.count("identity switched");
}

/** As the documentation asks of an app: what somebody opened by the cookie is closed before it is another's. */
export async function signInByCookie(run) {
  const { random } = run;
  if (!run.pages.size) return;
  const page = random.pick(pagesOf(run));
  const old = [...run.open.values()].filter(byCookie);
  const others = new Set(old.filter((one) => one.page !== page.name).map((one) => one.page));
  for (const other of others) {
    await run.exchange(other, old.filter((one) => one.page === other).map(({ name }) => name), null, []);
    await run.within(other, "settled");
  }
  const mine = old.filter((one) => one.page === page.name);
  await run.exchange(page.name, mine.map(({ name }) => name), random.pick(tokens),
    ["orders", "shelf", ...mine.map(({ query }) => query)].map((query) => oneMore(run, page, query, {})));
  run.count("cookie switched");
}

/** The other way: the session before is ended. As soon as one list has heard of it, nobody new is shown any. */
async function signOverCookie(run) {
  const { random } = run;
  const last = run.cookie;
  if (!run.pages.size || !last) return;
  await run.settle();
  const next = random.pick(tokens.filter((token) => token !== last));
  const page = random.pick(pagesOf(run));
  const old = [...run.open.values()].find((one) => byCookie(one) && run.isLive(one));
  await run.setCookie(page.name, next);
  await run.write(`${ending(last)}; ${beginningOf(random, next)}`);
  const opened = ["orders", "shelf"].map((query) => oneMore(run, page, query, {}));
  if (old) await run.openAfter(old, opened);
  else await run.exchange(page.name, [], null, opened);
  run.count("cookie signed over");
}

/** A session ends, and begins again; who has heard of the end asks at once. */
async function signInAgain(run) {
  const { random } = run;
  await run.settle();
  const old = random.pick([...run.open.values()].filter((one) => one.text && run.isLive(one)));
  if (!old) return;
  await run.write(ending(old.text));
  const opened = ["orders", "shelf", old.query].map((query) => oneMore(run, run.pages.get(old.page), query, { text: old.text }));
  await run.openAfter(old, opened);
  await run.write(beginningOf(random, old.text));
  run.count("signed in again");
}

async function openPage(run) {
  if (run.pages.size < mostPages) await run.openPage();
}

async function closePage(run) {
  if (run.pages.size) await run.closePage(run.random.pick(pagesOf(run)).name);
}

async function reloadPage(run) {
  if (run.pages.size) await run.reloadPage(run.random.pick(pagesOf(run)).name);
}

const replaceTab = (run) => run.replaceTab(run.random.number(0, 1));

/** `[weight, deed]` */
export const withoutServer = [[6, openSome], [2, closeOne], [2, moveWindow], [2, switchIdentity], [1, closePage]];
export const deeds = [...withoutServer, [2, fetchPage], [2, signInByCookie], [2, openPage], [1, reloadPage]];
/** Where no transaction is under way. */
export const betweenTransactions = [...deeds, [2, signOverCookie], [1, signInAgain], [1, replaceTab]];
