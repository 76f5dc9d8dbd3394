// Runs inside a copy of a report page, in a frame: is anything wider than the window, is every text legible in light
// and dark, has everything that takes the focus a name and a visible focus? Tells the page around it.
(() => {
  const SCROLLED = ".table-box, .graph-box, .blocks, .code, .clusters, .overview-picture, .beside-plan";
  const found = [];
  const say = (text) => found.includes(text) || found.push(text);
  const about = (element) =>
    `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} ${(element.textContent ?? "").trim().slice(0, 30)}`;

  function overflow() {
    if (document.documentElement.scrollWidth > innerWidth) say(`page is ${document.documentElement.scrollWidth} wide`);
    for (const element of document.querySelectorAll("body *"))
      if (element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(SCROLLED)) say(`too wide: ${about(element)}`);
  }

  /** Numbers and names of one drawing stand apart. */
  function overlaps() {
    for (const drawing of document.querySelectorAll(".scatter svg"))
      for (const kind of [".tick", ".point-name"]) {
        const boxes = [...drawing.querySelectorAll(kind)].map((element) => [element, element.getBoundingClientRect()]);
        const isOver = (a, b) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 4 && b.bottom > a.top + 4;
        for (const [element, box] of boxes)
          if (boxes.some(([other, its]) => other !== element && isOver(box, its))) say(`overlaps: ${kind} ${about(element)}`);
      }
    // a name may lie on points, and what a list is for stays beside it
    for (const name of document.querySelectorAll(".point-name"))
      if (!getComputedStyle(name).paintOrder.startsWith("stroke")) say(`on points: ${about(name)}`);
    for (const list of document.querySelectorAll(".scatter .tools select"))
      if (list.parentElement.clientHeight > list.offsetHeight + 8) say(`apart from its name: ${list.ariaLabel}`);
  }

  /** Columns of one task stand below each other, their names inside the picture and apart. */
  function columns() {
    for (const box of document.querySelectorAll(".alltasks")) {
      const pictures = [...box.querySelectorAll("svg.columns")];
      const starts = pictures.map((one) => Math.round(one.querySelector(".column-back").getBoundingClientRect().left));
      if (new Set(starts).size > 1) say(`columns start at ${starts.join(" and ")}`);
      for (const one of pictures) {
        const names = [...one.querySelectorAll(".column-name")];
        const cut = names.find((name) => name.getBoundingClientRect().left < one.getBoundingClientRect().left - 1);
        if (cut) say(`cut: ${about(cut)}`);
        const [first, next] = names.map((name) => name.getBoundingClientRect().right);
        if (next && (next - first) * Math.sin((40 * Math.PI) / 180) < 10) say(`names ${(next - first).toFixed(1)} apart: ${about(one)}`);
      }
    }
  }

  const numbers = (text) => (text.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
  /** [r, g, b, alpha] from 0 to 1, of rgb(...) and of color(srgb ...). */
  function rgba(text) {
    const parts = numbers(text.replace(/^color\(srgb/, "("));
    const most = text.startsWith("color(") ? 1 : 255;
    return [parts[0] / most, parts[1] / most, parts[2] / most, parts[3] ?? 1];
  }
  function light([r, g, b]) {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  }
  /** The first ground that lets nothing through; null where it is no plain colour. */
  function groundOf(element) {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none" && !at.matches(".table-box")) return null; // those have shadows at their ends
      const ground = rgba(style.backgroundColor);
      if (ground[3] === 1) return ground;
      if (ground[3] > 0) return null;
    }
    return [1, 1, 1, 1];
  }
  function contrast(theme) {
    for (const element of document.querySelectorAll("body *:not(svg *, script, style, option)")) {
      const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim().length > 1);
      if (!isText || element.getClientRects().length === 0 || element.closest("[aria-pressed='false']")) continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      if (!ground) continue;
      const [a, b] = [light(rgba(style.color)), light(ground)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const size = Number.parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (isLarge ? 3 : 4.5)) say(`${theme}: contrast ${ratio.toFixed(2)} of ${about(element)}`);
    }
  }

  const nameOf = (element) =>
    element.getAttribute("aria-label") || element.closest("label")?.textContent || element.textContent.trim() || element.getAttribute("aria-labelledby");
  function keyboard() {
    const taking = [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")];
    for (const element of taking) {
      if (element.getClientRects().length === 0) continue;
      if (!nameOf(element)) say(`no name: ${about(element)}`);
      if (Number(element.getAttribute("tabindex")) > 0) say(`own order of focus: ${about(element)}`);
    }
    for (const element of document.querySelectorAll("[role='img'], svg[role], canvas:not([aria-hidden])"))
      if (!element.closest("[aria-label]")) say(`picture without a name: ${about(element)}`);
    for (const element of document.querySelectorAll("tr[onclick], [role='button']:not([tabindex])")) say(`not by keyboard: ${about(element)}`);
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) say(`twice: #${id}`);
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
    if (!rules.some((rule) => rule.selectorText === ":focus-visible" && rule.cssText.includes("outline: 2px"))) say("focus is not shown");
    let level = 0;
    for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5")) {
      const next = Number(heading.tagName[1]);
      if (next > level + 1) say(`heading skips a level: ${about(heading)}`);
      level = next;
    }
  }

  setTimeout(async () => {
    const still = document.createElement("style"); // colours change at once
    still.textContent = "* { transition: none !important; }";
    document.head.append(still);
    overflow();
    overlaps();
    columns();
    keyboard();
    for (const theme of ["light", "dark"]) {
      if (document.documentElement.dataset.theme !== theme) document.querySelector(".theme").click();
      contrast(theme);
      if (!globalThis.axe || innerWidth > 1280) continue; // the whole rule set, where it is installed; wider is the same
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      for (const { id, nodes } of violations) say(`${theme}: axe ${id} ${nodes[0].html.slice(0, 80)}`);
    }
    parent.postMessage({ page: document.title, width: innerWidth, found }, "*");
  }, 600);
})();
