// What somebody does with the pages of the cookbook that they open in a browser, and sees.

/** Whether a list shows these texts, in this order. */
const shows = (expected, selector = "li") =>
  JSON.stringify([...document.querySelectorAll(selector)].map((item) => item.textContent)) === JSON.stringify(expected);

/** Page → what is done with it, in a tab. */
export const inBrowser = {
  async SearchAsYouType(tab, { kitchen }) {
    await tab.press("input", "ho");
    await tab.until(shows, ["Honey on horses’ hooves", "House of cards"]);
    await tab.press("input", "n");
    await tab.until(shows, ["Honey on horses’ hooves"]);
    await kitchen.run(`sqlite3 notes.sqlite "INSERT INTO note (title, body) VALUES ('An honest note', '')"`);
    await tab.until(shows, ["An honest note", "Honey on horses’ hooves"]);
  },

  async Sort(tab) {
    await tab.until(shows, ["ada 10", "Barbara 20", "Grace 30"]);
    await tab.click("[value=best]");
    await tab.until(shows, ["Grace 30", "Barbara 20", "ada 10"]);
    await tab.click("[value=name]");
    await tab.until(shows, ["ada 10", "Barbara 20", "Grace 30"]);
  },

  async AToZ(tab, { kitchen }) {
    await tab.until(shows, ["A", "B", "G", "N"], "nav button");
    await kitchen.run(`sqlite3 contacts.sqlite "INSERT INTO contact (name) VALUES ('Zuse')"`);
    await tab.until(shows, ["A", "B", "G", "N", "Z"], "nav button");
    await kitchen.run(`sqlite3 contacts.sqlite "DELETE FROM contact WHERE name = 'Zuse'"`);
    await tab.until(shows, ["A", "B", "G", "N"], "nav button");
  },

  async LiveTotals(tab, { kitchen }) {
    const reads = (text) => document.querySelector("p").innerText === text;
    await tab.until(reads, "2 purchases, 20.50 €");
    await kitchen.run(`sqlite3 shop.sqlite "INSERT INTO purchase VALUES (9, 'open', 50)"`);
    await tab.until(reads, "3 purchases, 21.00 €");
    await kitchen.run(`sqlite3 shop.sqlite "DELETE FROM purchase WHERE id = 9"`);
    await tab.until(reads, "2 purchases, 20.50 €");
  },
  async Fossil(tab, { kitchen }) {
    const reads = (...comments) => comments.join() === [...document.querySelectorAll("li")].map(({ textContent }) =>
      /^\d{4}-\d\d-\d\d [\d:]{8} ada: (.*)$/.exec(textContent)?.[1]).join();
    await tab.until(reads, "+Plans", "Say hello", "initial empty check-in");
    await kitchen.run("echo hello again > hello.txt; fossil commit -m 'Say it again'", ["…"]);
    await tab.until(reads, "Say it again", "+Plans", "Say hello", "initial empty check-in");
  },

  async BehindNginx(tab, { url, browser, kitchen }) {
    const reads = (state, ...titles) => document.querySelector("p").textContent === state
      && titles.join() === [...document.querySelectorAll("li")].map(({ textContent }) => textContent).join();
    const other = await browser.open(url);
    await other.until(reads, "signedOut");
    await tab.click("[formaction='/sign-in']");
    await tab.until(reads, "live", "A bicycle", "Tea");
    await other.go(url);
    await other.until(reads, "live", "A bicycle", "Tea");
    await kitchen.run(`sqlite3 lists.sqlite "INSERT INTO wish VALUES (9, 1, 'A kite'), (10, 2, 'A house')"`);
    await tab.until(reads, "live", "A bicycle", "Tea", "A kite");
    await other.click("[formaction='/sign-out']");
    await tab.until(reads, "signedOut");
    // What was refused is an error at the console.
    await browser.console();
  },

  async Django(tab, { kitchen }) {
    await tab.until(shows, ["Tea"]);
    await kitchen.run(`python3 manage.py shell -c "from orders.models import Order; Order.objects.create(item='Cake')"`);
    await tab.until(shows, ["Cake", "Tea"]);
  },

  async Node(tab) {
    await tab.until(shows, ["Buy tea"]);
    await tab.press("input", "Boil water\uE007");
    await tab.until(shows, ["Buy tea", "Boil water"]);
    await tab.click("li");
    await tab.until(shows, ["Boil water"]);
  },

  async Go(tab, { url, browser }) {
    await tab.until(shows, ["/ 1", "/about 1"]);
    const other = await browser.open(`${url}about`);
    await other.until(shows, ["/about 2", "/ 1"]);
    await tab.until(shows, ["/about 2", "/ 1"]);
  },

  async Laravel(tab, { url, kitchen }) {
    await tab.until(shows, ["Tea"]);
    await kitchen.run(`curl -s -d item=Cake ${url}orders > order.json`);
    await tab.until(shows, ["Cake", "Tea"]);
    await kitchen.run(`php -r '
      (require "bootstrap/app.php")->make(Illuminate\\Contracts\\Console\\Kernel::class)->bootstrap();
      App\\Models\\Order::where("item", "Tea")->update(["state" => "done"]);'`);
    await tab.until(shows, ["Cake"]);
  },

  async Rails(tab, { kitchen }) {
    await tab.until(shows, ["Tea"]);
    await kitchen.run("bin/rails runner 'Order.update_all(state: %q(done)); Order.create!(item: %q(Cake), state: %q(open))'");
    await tab.until(shows, ["Cake"]);
  },
};
