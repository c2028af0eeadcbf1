/**
 * Batches as the HTTP API has them.
 *
 * @typedef {"validating"|"in_progress"|"cancelling"|"completed"|"failed"|"cancelled"} BatchStatus
 *
 * @typedef {object} Batch
 * @property {string} id
 * @property {string} filename
 * @property {number} created_at Seconds since 1970.
 * @property {BatchStatus} status
 * @property {{data: {message: string}[]}|null} errors
 * @property {{total: number, completed: number, failed: number}} request_counts
 * @property {Record<"answered"|"unanswerable"|"error"|"waiting"|"low_confidence"|"not_grounded", number>} counts
 * @property {string[]} remarks
 *
 * @typedef {object} BatchAnswer
 * @property {number} number From 1.
 * @property {string} question
 * @property {"answered"|"unanswerable"|"error"|"waiting"} status
 * @property {string} answer
 * @property {number|null} confidence
 * @property {boolean|null} grounded
 * @property {string} reason
 * @property {string|null} doc_name
 * @property {number|null} page From 0.
 */

export {};
