// Light and dark: follows the system unless the reader chooses; paper is always light.
import { h } from "./dom.js";

const dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
let choice = "auto";

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("themechange"));
}

export function setTheme(next) {
  choice = next;
  apply(choice === "auto" ? (dark.matches ? "dark" : "light") : choice);
}

dark.addEventListener("change", () => setTheme(choice));
globalThis.addEventListener("beforeprint", () => apply("light"));
globalThis.addEventListener("afterprint", () => setTheme(choice));

export function themeButton() {
  const button = h(
    "button",
    {
      type: "button",
      class: "theme",
      title: "Light or dark",
      "aria-label": "Switch between light and dark",
      onclick: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
    },
    "◐",
  );
  return button;
}
