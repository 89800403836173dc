/** Who asks: by a token, which is asked for when a request needs one, or by cookies of another origin. */

/** Milliseconds that a new token has to be good for before yet another one is asked for. */
const proof = 5000;

// Milliseconds, as in stream.js: a token function that fails is asked again.
const [firstDelay, longestDelay] = [500, 30_000];

/** Options → caller, and function → its token: controllers that share a function ask once. */
const [callers, tokens] = [new WeakMap(), new WeakMap()];

function kept(things, key, make) {
  if (!things.has(key)) things.set(key, make());
  return things.get(key);
}

export function callerOf(options) {
  return kept(callers, options, () => {
    const { token, withCredentials } = options;
    return new Caller(tokenOf(token), withCredentials);
  });
}

function tokenOf(token) {
  if (typeof token === "function") return kept(tokens, token, () => new Token(token));
  return token ? new Token(({ expired }) => (expired ? null : token)) : null;
}

/**
 * What a hub is told of a caller: `{token, withCredentials}`. Where the token of `refused` is no longer
 * good, another one; undefined: there is none. It does not give up while `isOpen`.
 */
export async function introduction({ token, withCredentials }, refused, listener, isOpen) {
  for (let failures = 0; isOpen(); failures++) {
    try {
      const text = await (refused ? token.renew(refused.token) : token?.get() ?? null);
      return text === undefined ? undefined : { token: text, withCredentials };
    } catch (cause) {
      if (failures === 0) listener("error", { title: "The token function failed", detail: "", cause });
      const longest = Math.min(longestDelay, firstDelay * 2 ** failures);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
    }
  }
}

class Caller {
  constructor(token, withCredentials) {
    Object.assign(this, { token, withCredentials });
  }

  /** As the global one; after a 401 again, if there is another token. */
  async fetch(address, init) {
    const token = await this.token?.get();
    const answer = await this.#fetch(address, init, token);
    if (answer.status !== 401) {
      if (answer.ok) this.token?.proved();
      return answer;
    }
    const other = await this.token?.renew(token);
    return other === undefined ? answer : this.#fetch(address, init, other);
  }

  #fetch(address, init, token) {
    const headers = new Headers(init?.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    return fetch(address, { ...this.withCredentials && { credentials: "include" }, ...init, headers });
  }
}

/** What a function gives, until the server refuses it. */
class Token {
  #ask;
  /** Null: there is none, or it is not known. */
  #text = null;
  #asking = null;
  /** Whether it was asked for after a refusal, and since when it is known to be good. */
  #isRenewed = false;
  #goodSince = null;

  constructor(ask) { this.#ask = ask; }

  /** Null: nobody has signed in. */
  async get() {
    if (this.#text === null && !this.#asking) [this.#isRenewed, this.#goodSince] = [false, null];
    return this.#text ?? (this.#asking ?? this.#askFor({ expired: false }));
  }

  /** Another than the one that was refused; undefined: there is none. */
  async renew(refused) {
    if (this.#asking) await this.#asking;
    if (this.#text !== refused) return this.#text ?? undefined;
    const isProven = this.#goodSince !== null && Date.now() - this.#goodSince > proof;
    this.#text = null;
    if (this.#isRenewed && !isProven) return undefined;
    [this.#isRenewed, this.#goodSince] = [true, null];
    try {
      const text = await this.#askFor({ expired: true });
      if (text === refused) this.#text = null;
      return this.#text ?? undefined;
    } catch (error) {
      // As before: it may be asked again.
      [this.#isRenewed, this.#text] = [false, refused];
      throw error;
    }
  }

  /** The server took it. */
  proved() { this.#goodSince ??= Date.now(); }

  #askFor(why) {
    return this.#asking = Promise.resolve().then(() => this.#ask(why))
      .then((text) => (this.#text = checked(text)))
      .finally(() => (this.#asking = null));
  }
}

/** Nothing of it in the text: that of `fetch` would show it. */
function checked(token) {
  if (token === undefined || token === null || token === "") return null;
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TypeError("The token is not a text that a header can carry.");
}
