// Uses every word of didchange.d.ts; types.test.mjs has the compiler read it.

import {
  Caller, ChangeEvent, ChangeSetError, FetchedRecordsController, IndexPath, Query, VirtualListOptions, applyChangeSet, keyOf,
} from "../../../Public/didchange.js";

interface Player {
  readonly [column: string]: string | number;
  name: string;
  score: number;
}

const players = new FetchedRecordsController<Player>("v1/queries/players", {
  parameters: { country: "FR", minimum: 3, large: BigInt(1), left: undefined }, order: "best", window: { offset: 0, limit: 10 },
});
players.addEventListener("didChange", ({ detail }) => detail.commit + detail.numberOfSections);
players.addEventListener("change", ({ detail }) => detail.record.name.length);
players.addEventListener("state", ({ detail }) => detail === "stale" || detail === "signedOut" || detail === "forbidden");
players.addEventListener("error", ({ detail }) => detail.title.length);

const callers: Caller[] = [{ token: "abc" }, { token: async ({ expired }) => (expired ? null : "abc") }, { withCredentials: true }];
const orders = callers.map((caller) => new FetchedRecordsController("v1/queries/orders", { window: null, ...caller }));
const answer: Promise<Response> = orders[0].fetch(orders[0].address("records"), { method: "HEAD" });

const stop: () => void = players.bind(document.body, {
  row: ({ name, score }, node, format) => node ?? format("born") ?? `${name} ${score}`,
  formats: { date: (value) => new Date(value).toLocaleDateString(), null: () => "–" }, types: { born: "date" },
  section: ({ name, records }) => `${name} ${records.length}`,
});

async function total(): Promise<number> {
  for await (const sections of players) return sections.flatMap(({ records }) => records)[0].score;
  return players.totalNumberOfRecords + (players.commit ?? 0);
}

const undo: () => void = players.move(3, [0, 1], fetch("/players/3", { method: "PUT" }));
undo();
players.addEventListener("error", ({ detail }) => detail.reason === "unreachable");
players.addEventListener("pending", ({ detail }) => detail === players.isPending);
players.window = { offset: 5 };
players.parameters = { country: "DE", minimum: BigInt(3), left: undefined };
players.order = players.transport === "longPoll" ? null : players.order;
players.addEventListener("transport", ({ detail }) => detail === "stream");
const path: IndexPath | undefined = players.indexPathFor(3) ?? players.indexPathFor(["a", 1]);
const record = path && players.recordAt(path);
const key = record && keyOf(record);
const events: ChangeEvent[] = [{ event: "sectionChange", data: { type: "insertion", section: 0, name: null, indexTitle: "" } }];
const list: VirtualListOptions<Player> = { row: (player, node) => { node.textContent = player?.name ?? ""; }, section() {} };
// @ts-expect-error: there is no such column of that type.
players.recordAt([0, 0])?.name.toFixed();

export const all = [answer, stop, total, key, events, list, applyChangeSet({ sections: [] }, events), ChangeSetError, {} as Query,
  players.sectionIndexTitles, players.address("sections"), players.url, players.alongside, players.version];
players.close();
