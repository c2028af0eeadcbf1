// Elements. Text always goes in as text nodes: what filings, models and people write is never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** What can stand in an element: nodes, text, nothing, or lists of these. @typedef {any} Child */

/**
 * An element with properties and children. `class`, `data-*`, `aria-*`, `role` and other hyphenated names become
 * attributes, `on…` become listeners, `vars` custom properties of its style, the rest properties.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "vars")
      for (const [key, text] of Object.entries(value)) element.style.setProperty(key, String(text));
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || ATTRIBUTES.has(name)) element.setAttribute(name, String(value));
    else Reflect.set(element, name, value);
  }
  append(element, children);
  return element;
}

const ATTRIBUTES = new Set(["role", "for", "scope", "datetime", "list", "colspan"]);

/** @param {Element} parent @param {Child} child */
export function append(parent, child) {
  if (Array.isArray(child)) for (const each of child) append(parent, each);
  else if (child instanceof Node) parent.append(child);
  else if (child !== null && child !== undefined && child !== false) parent.append(String(child));
}

/** @param {Element} parent @param {...Child} children */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

const PATHS = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.2 16.2 21 21",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  warn: "M12 4 2.8 20h18.4L12 4zM12 10v4.5M12 17.2v.3",
  info: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5M12 7.7v.3",
  left: "M14.5 5.5 8 12l6.5 6.5",
  right: "M9.5 5.5 16 12l-6.5 6.5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1 1M14 10a4 4 0 0 0-5.700 0l-3 3A4 4 0 0 0 11 18.700l1-1",
  history: "M4 12a8 8 0 1 0 2.6-5.900L4 8.500M4 4v4.500h4.500M12 8v4.500l3 1.800",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  page: "M7 3.500h7l4 4V20.500H7zM14 3.500v4h4M10 12h5M10 15.500h5",
  upload: "M12 16V4M7 9l5-5 5 5M5 20h14",
  play: "M8 5.500v13l10-6.500z",
  filter: "M4 6h16M7 12h10M10 18h4",
  back: "M9 7 4 12l5 5M4 12h11a5 5 0 0 1 0 10",
};

/** A decorative icon; its button or text says what it means. @param {keyof typeof PATHS} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
