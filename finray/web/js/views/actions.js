// What one can take away from an answer: its text with citations, a link, the prediction as JSON.

import { h, icon } from "../dom.js";
import { linkTo } from "../link.js";
import { completeQuestion } from "../run.js";
import { toast } from "./announce.js";

/** @typedef {import("../types.js").Run} Run */

/** @param {Run} run @param {import("../places.js").Places} places */
export function actions(run, places) {
  return h(
    "div",
    { class: "actions", role: "group", "aria-label": "Take away" },
    button("copy", "Copy answer", () => copy(citation(run, places), "Answer copied with its sources")),
    button("link", "Copy link", () => copy(linkTo(completeQuestion(run), run.filters), "Link copied")),
    button("download", "JSON", () => download(run), "Download the prediction as JSON"),
  );
}

/** @param {Parameters<typeof icon>[0]} name @param {string} text @param {() => void} onclick @param {string} [title] */
const button = (name, text, onclick, title) =>
  h("button", { type: "button", onclick, title, "aria-label": title }, icon(name), text);

/** The answer as one would paste it into a mail. @param {Run} run @param {import("../places.js").Places} places */
export function citation(run, places) {
  const { answer, program, status } = run.prediction ?? { answer: "", program: "", status: "error" };
  const sources = places.evidence.map((place) => `- ${places.title(place)} (${place.docName})`);
  return [
    completeQuestion(run),
    answer,
    ...(program && status === "answered" ? [`Computed as ${program}`] : []),
    ...(sources.length ? ["Sources:", ...sources] : []),
  ].join("\n");
}

/** @param {string} text @param {string} done */
async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard without HTTPS: what the selection holds can still be copied.
    const area = h("textarea", { value: text, class: "visually-hidden", "aria-hidden": "true" });
    document.body.append(area);
    /** @type {HTMLTextAreaElement} */ (area).select();
    const copied = document.execCommand("copy");
    area.remove();
    if (!copied) return toast("This browser does not let the page copy");
  }
  toast(done);
}

/** @param {Run} run */
function download(run) {
  const blob = new Blob([`${JSON.stringify(run.prediction, null, 2)}\n`], { type: "application/json" });
  const url = URL.createObjectURL(blob);
  const name = run.question
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60);
  h("a", { href: url, download: `finray-${name || "answer"}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
