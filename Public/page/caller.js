/** The token that was typed in: in sessionStorage, so it ends with this tab and no other tab has it. */

const place = "didchange token";

/** For a controller; without a token as if there were no callers. */
export let options = {};

/** Empty: nobody. */
export function signInWith(token) {
  options = token ? { token } : {};
  if (token) sessionStorage.setItem(place, token);
  else sessionStorage.removeItem(place);
}

export const isSignedIn = () => "token" in options;

export async function ask(address, init) {
  if (!isSignedIn()) return fetch(address, init);
  return (await import("../didchange/caller.js")).callerOf(options).fetch(address, init);
}

signInWith(sessionStorage.getItem(place));
