// The HTTP API, version 1. Every failure is a Problem that can be shown to a person.

import { readEvents } from "./sse.js";
import { readKey } from "./session.js";

/** @typedef {import("./types.js").Filters} Filters */
/** @typedef {import("./types.js").Failure} Failure */

export class Problem extends Error {
  /** @param {Failure} failure */
  constructor(failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** @param {string} message @param {Partial<Failure>} [more] */
export function problem(message, more = {}) {
  return new Problem({ message, code: "", status: 0, requestId: "", retryAfter: 0, ...more });
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>} With a status of 200 to 299. Throws Problem, or AbortError.
 */
export async function send(path, options = {}) {
  const headers = new Headers(options.headers);
  const key = readKey();
  if (key) headers.set("Authorization", `Bearer ${key}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw problem("The service cannot be reached. Is it still running?", { code: "unreachable" });
  }
  if (!response.ok) throw await readProblem(response);
  return response;
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/** @param {Response} response */
async function readProblem(response) {
  const body = await response.json().catch(() => null);
  const error = body?.error ?? {};
  return problem(String(error.message ?? `The service replied with status ${response.status}.`), {
    code: String(error.code ?? ""),
    status: response.status,
    requestId: response.headers.get("X-Request-Id") ?? "",
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
  });
}

/** @param {string} path @param {AbortSignal} [signal] */
export async function getJson(path, signal) {
  return (await send(path, { signal })).json();
}

export const ready = () => getJson("/v1/readyz");

/** @param {string} filingId @param {number} page @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Page>} */
export const getPage = (filingId, page, signal) =>
  getJson(`/v1/filings/${encodeURIComponent(filingId)}/pages/${page}`, signal);

/** @param {string} cursor */
export const listFilings = (cursor) => getJson(`/v1/filings?limit=500&cursor=${encodeURIComponent(cursor)}`);

/**
 * A page as a PNG with marks on it.
 *
 * @param {string} filingId
 * @param {number} page
 * @param {{ranges: [number, number][], boxes: number[][], dpi: number}} marks
 * @param {AbortSignal} [signal]
 * @returns {Promise<Blob>}
 */
export async function getPageImage(filingId, page, { ranges, boxes, dpi }, signal) {
  const query = new URLSearchParams({ dpi: String(dpi) });
  for (const [start, end] of ranges) query.append("highlight", `${start}-${end}`);
  for (const box of boxes) query.append("box", box.map((number) => number.toFixed(2)).join(","));
  return (await send(`/v1/filings/${encodeURIComponent(filingId)}/pages/${page}/image?${query}`, { signal })).blob();
}

/**
 * The events of one question. Aborting `signal` ends the work on the server too.
 *
 * @param {string} question
 * @param {string[]} context Earlier questions of the conversation.
 * @param {Filters} filters
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{name: string, data: any}>} First a `request` with the request's id.
 */
export async function* ask(question, context, filters, signal) {
  const response = await send("/v1/answer", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ question, context, filters, trace: true }),
    signal,
  });
  const requestId = response.headers.get("X-Request-Id") ?? "";
  yield { name: "request", data: { requestId } };
  if (!response.body) throw problem("The service sent an empty reply.", { requestId });
  let ended = false;
  try {
    for await (const { name, data } of readEvents(response.body)) {
      const record = JSON.parse(data);
      if (name === "error") {
        const { message, code } = record.error;
        throw problem(String(message), { code: String(code ?? ""), status: 500, requestId });
      }
      ended ||= name === "done";
      yield { name, data: record };
    }
  } catch (error) {
    if (error instanceof Problem || isAbort(error)) throw error;
    throw problem("The connection broke before the answer was complete.", { code: "broken", requestId });
  }
  if (!ended) throw problem("The connection closed before the answer was complete.", { code: "broken", requestId });
}
