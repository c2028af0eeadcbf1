// Files and batches of the HTTP API.

import { getJson, send } from "./api.js";

/** @typedef {import("./batch_types.js").Batch} Batch */
/** @typedef {import("./batch_types.js").BatchAnswer} BatchAnswer */

/** @param {File} file @returns {Promise<string>} The id of the file. */
export async function uploadFile(file) {
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", file);
  const { id } = await (await send("/v1/files", { method: "POST", body: form })).json();
  return id;
}

/** @param {string} path @param {object} body */
async function post(path, body) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return (await send(path, options)).json();
}

/** @param {string} fileId @param {{column: string, sheet: string}} table @returns {Promise<Batch>} */
export const startBatch = (fileId, { column, sheet }) =>
  post("/v1/batches", {
    input_file_id: fileId,
    endpoint: "/v1/answer",
    completion_window: "24h",
    ...(column && { question_column: column }),
    ...(sheet && { sheet }),
  });

/** Newest first. @returns {Promise<Batch[]>} */
export const listBatches = async () => (await getJson("/v1/batches?limit=100")).data;

/** @param {string} id */
const at = (id) => `/v1/batches/${encodeURIComponent(id)}`;

/** @param {string} id @returns {Promise<Batch>} */
export const getBatch = (id) => getJson(at(id));
/** @param {string} id @returns {Promise<Batch>} */
export const stopBatch = (id) => post(`${at(id)}/cancel`, {});
/** @param {string} id @param {boolean} retryErrors @returns {Promise<Batch>} */
export const resumeBatch = (id, retryErrors) => post(`${at(id)}/resume`, { retry_errors: retryErrors });
/** @param {string} id */
export const deleteBatch = (id) => send(at(id), { method: "DELETE" });

/** @param {string} id @param {string} show @param {number} limit @returns {Promise<{data: BatchAnswer[], has_more: boolean}>} */
export const listAnswers = (id, show, limit) => getJson(`${at(id)}/answers?show=${show}&limit=${limit}`);

/** @param {string} id @param {number} number @returns {Promise<import("./types.js").Prediction>} */
export const getAnswer = (id, number) => getJson(`${at(id)}/answers/${number}`);

/** @param {string} id @param {"xlsx"|"csv"|"jsonl"} format @returns {Promise<{blob: Blob, name: string}>} */
export async function downloadBatch(id, format) {
  const reply = await send(`${at(id)}/download?format=${format}`);
  const name = /filename="([^"]+)"/.exec(reply.headers.get("Content-Disposition") ?? "")?.[1] ?? `answers.${format}`;
  return { blob: await reply.blob(), name };
}
