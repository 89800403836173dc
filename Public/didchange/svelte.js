/**
 * For Svelte: a readable store, whose controller lives while anybody is subscribed.
 *
 *     const players = fetchedRecords("v1/queries/players", { parameters: { country: "FR" } });
 *     $: players.ask({ parameters: { country } });        // what is shown stays until the difference is here
 *     {#each $players.records as player} … {/each}
 */
export { fetchedRecords } from "./store.js";
