// Runs inside a copy of a report page: saves every chart, chooses tasks, goes back. What happened is left in the page.
(() => {
  const say = (name, value) => {
    const line = document.createElement("p");
    line.dataset.testid = name;
    line.dataset.value = value;
    document.body.append(line);
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (id) => document.querySelector(`[data-testid="${id}"]`);
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  const blobs = [];
  // What goes in is kept: reading a blob takes time that the clock of the test does not count.
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      super(parts, options);
      this.content = parts.join("");
    }
  };
  URL.createObjectURL = (blob) => {
    blobs.push(blob);
    return "about:blank";
  };
  HTMLAnchorElement.prototype.click = () => {};

  const isDrawing = (text) => {
    const made = new DOMParser().parseFromString(text, "image/svg+xml");
    return !made.querySelector("parsererror") && made.querySelectorAll("path, rect, circle").length > 1 && !text.includes("var(--");
  };
  const isTable = (text) => {
    const lines = text.trim().split("\n");
    return lines.length > 1 && !text.includes("undefined") && !text.includes("NaN");
  };

  async function save(button) {
    const before = blobs.length;
    button.click();
    for (let tries = 0; tries < 30 && blobs.length === before; tries++) await wait(50);
  }

  async function saveAll() {
    for (const kind of ["svg", "png", "csv"]) {
      blobs.length = 0;
      const buttons = all(`[data-testid="save-${kind}"]`);
      for (const button of buttons) await save(button);
      const texts = blobs.map((blob) => blob.content ?? String(blob.size));
      const isGood = { svg: isDrawing, csv: isTable, png: (size) => Number(size) > 300 }[kind];
      say(`buttons-${kind}`, buttons.length);
      say(`saved-${kind}`, texts.filter(isGood).length);
      say(`bad-${kind}`, texts.map((text, at) => (isGood(text) ? "" : (buttons[at].ariaLabel ?? at))).filter(Boolean).join("; "));
      if (kind === "csv") say("first-csv", texts[0]?.split("\n")[0] ?? "");
    }
  }

  const picked = () => document.querySelector("#tasks-panel tr.picked")?.dataset.testid ?? "";
  async function go(name, act) {
    act();
    await wait(100);
    say(`${name}-address`, location.hash);
    say(`${name}-picked`, picked());
  }

  const inGraph = (id, selector) => document.querySelector(`[data-testid="view-${id}"] ${selector}`);
  const key = (element, name) => element.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));

  /** Colours are chosen, tasks are by click and by keys, and a large graph is gone through. */
  async function useGraphs() {
    for (const id of ["tasks", "long"]) {
      const choice = inGraph(id, "select");
      say(`${id}-colours`, [...choice.options].map((option) => option.text).join(", "));
      say(`${id}-colour`, choice.selectedOptions[0].text);
    }
    const fills = () => new Set([...document.querySelectorAll('[data-testid="view-tasks"] .node')].map((node) => getComputedStyle(node).fill)).size;
    const choice = inGraph("tasks", "select");
    say("fills-by-number", fills());
    choice.value = "gap";
    choice.dispatchEvent(new Event("change"));
    say("legend-of-gap", inGraph("tasks", ".graph-legend").textContent.includes("at the bound"));
    choice.value = "group";
    choice.dispatchEvent(new Event("change"));
    say("fills-by-group", fills());
    await go("node", () => inGraph("tasks", '[data-task="4"]').dispatchEvent(new MouseEvent("click", { bubbles: true })));
    say("node-pressed", inGraph("tasks", '[data-task="4"]').getAttribute("aria-pressed"));
    await go("node-key", () => {
      inGraph("tasks", '[data-task="4"]').focus();
      key(document.activeElement, "ArrowRight");
      key(document.activeElement, "Enter");
    });
    inGraph("tasks", 'input[type="checkbox"]').click();
    say("all-nodes", document.querySelectorAll('[data-testid="view-tasks"] .node').length);
    say("window", inGraph("long", '[data-testid="graph-window"]').textContent);
    inGraph("long", 'button[aria-label="Nodes after these"]').click();
    say("next-window", inGraph("long", '[data-testid="graph-window"]').textContent);
    inGraph("large", ".opens").dispatchEvent(new MouseEvent("click", { bubbles: true }));
    say("opened-block", document.querySelectorAll('[data-testid="view-large"] [data-testid="graph-node"]').length);
  }

  setTimeout(async () => {
    try {
      await go("row", () => one("task-row-3").click());
      await go("column", () => one("alltasks-cycles-5").dispatchEvent(new MouseEvent("click", { bubbles: true })));
      const column = one("alltasks-cycles-5");
      say("column-pressed", column.getAttribute("aria-pressed"));
      await go("key", () => {
        column.focus();
        column.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      });
      await go("back", () => history.back());
      await go("twice-back", () => history.back());
      await useGraphs();
      say("plan-beside", one("beside-plan") ? getComputedStyle(one("beside-plan")).position : "");
      await saveAll();
    } catch (error) {
      say("acted", error.message);
      return;
    }
    say("acted", "done");
  }, 800);
})();
