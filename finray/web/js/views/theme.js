// The switch between the system's theme, light and dark.

import { fill, h, icon } from "../dom.js";
import { readTheme, storeTheme } from "../session.js";

const NAMES = { system: "Auto", light: "Light", dark: "Dark" };
const NEXT = /** @type {const} */ ({ system: "light", light: "dark", dark: "system" });

export function themeSwitch() {
  const button = h("button", { type: "button", class: "quiet", id: "theme" });
  let theme = readTheme();
  const show = () => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    fill(button, icon("theme"), h("span", { class: "word" }, NAMES[theme]));
    button.setAttribute("aria-label", `Theme: ${NAMES[theme]}`);
    button.title = `Theme: ${NAMES[theme]}`;
  };
  button.addEventListener("click", () => {
    theme = NEXT[theme];
    storeTheme(theme);
    show();
  });
  show();
  return button;
}
