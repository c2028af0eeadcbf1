// What the browser keeps: key and history until the tab is closed, the theme for longer. A browser that keeps nothing
// (storage switched off) is fine: everything then lasts until the page is left.

/** @typedef {import("./types.js").Run} Run */

const KEY = "finray.key";
const HISTORY = "finray.history";
const THEME = "finray.theme";
const MOST_RUNS = 30;

/** @type {Map<string, string>} */
const memory = new Map();

/** @param {() => Storage} storage @param {string} name */
function read(storage, name) {
  try {
    return storage().getItem(name) ?? memory.get(name) ?? "";
  } catch {
    return memory.get(name) ?? "";
  }
}

/** @param {() => Storage} storage @param {string} name @param {string} value @returns {boolean} Whether there was room. */
function write(storage, name, value) {
  memory.set(name, value);
  try {
    if (value) storage().setItem(name, value);
    else storage().removeItem(name);
    return true;
  } catch {
    return false;
  }
}

const session = () => sessionStorage;
const lasting = () => localStorage;

export const readKey = () => read(session, KEY);
/** @param {string} key */
export const storeKey = (key) => void write(session, KEY, key.trim());

/** @returns {"light"|"dark"|"system"} */
export function readTheme() {
  const theme = read(lasting, THEME);
  return theme === "light" || theme === "dark" ? theme : "system";
}
/** @param {"light"|"dark"|"system"} theme */
export const storeTheme = (theme) => void write(lasting, THEME, theme === "system" ? "" : theme);

/** Newest first. @returns {Run[]} */
export function readHistory() {
  try {
    const runs = JSON.parse(read(session, HISTORY) || "[]");
    return Array.isArray(runs) ? runs : [];
  } catch {
    return [];
  }
}

/** Newest first; the oldest go where there is no room. @param {Run[]} runs */
export function storeHistory(runs) {
  for (let kept = runs.slice(0, MOST_RUNS); ; kept = kept.slice(0, -1)) {
    if (write(session, HISTORY, JSON.stringify(kept)) || kept.length === 0) return;
  }
}
