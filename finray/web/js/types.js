/**
 * The records of the HTTP API that the page reads (docs/openapi.json has them all), and its own.
 *
 * @typedef {object} Passage
 * @property {string} doc_name
 * @property {string} filing_id
 * @property {number} page Counted from 0.
 * @property {number} start Code points into the page's text.
 * @property {number} end
 * @property {string} text
 * @property {number} score
 *
 * @typedef {object} FoundFiling
 * @property {string} doc_name
 * @property {string} filing_id
 * @property {number} score
 * @property {string} [company]
 * @property {string} [form]
 * @property {string[]} [reasons]
 *
 * @typedef {object} Cell A number that the answer was computed from.
 * @property {string} name Its name in the program.
 * @property {number} value In base units.
 * @property {string} doc_name
 * @property {string} filing_id
 * @property {number} page
 * @property {string} label
 * @property {string} text As printed.
 * @property {string} [section]
 * @property {string} [column_label]
 * @property {string} [statement]
 * @property {string} [period_end]
 * @property {number} [months]
 * @property {string} [concept]
 * @property {number[]} [box] x0, y0, x1, y1 in PDF points.
 *
 * @typedef {object} Block Evidence for a reader.
 * @property {string} id
 * @property {string} doc_name
 * @property {string} filing_id
 * @property {number} page
 * @property {"table"|"prose"} kind
 * @property {string} heading
 * @property {string} text Markdown without HTML.
 *
 * @typedef {object} GridCell
 * @property {string} company
 * @property {string} period
 * @property {string} item
 * @property {number} [value]
 * @property {string} [text] The value as people write it.
 * @property {string[]} [operands] Names of the cells that it is from.
 * @property {string} [row] The row as printed.
 * @property {boolean} [other_row] Whether the row may be another line.
 * @property {string} [reason] Why there is no figure.
 *
 * @typedef {object} Grid
 * @property {string[]} companies
 * @property {string[]} periods
 * @property {string[]} items
 * @property {GridCell[]} cells By company, period and item.
 * @property {string} [verdict]
 *
 * @typedef {object} Prediction
 * @property {string} question
 * @property {string} answer
 * @property {number|null} value
 * @property {string|null} unit
 * @property {"answered"|"unanswerable"|"error"} status
 * @property {string|null} error
 * @property {FoundFiling[]} documents
 * @property {Passage[]} passages
 * @property {Passage[]} evidence
 * @property {Block[]} [evidence_blocks]
 * @property {number} iterations
 * @property {Record<string, {prompt_tokens: number, completion_tokens: number, cost?: number}>} usage
 * @property {number} seconds
 * @property {string} settings_hash
 * @property {string} [program]
 * @property {string[]} [missing]
 * @property {string[]} [nearest]
 * @property {string[]} [trace]
 * @property {boolean} [grounded]
 * @property {Cell[]} [operands]
 * @property {Grid} [grid] The figures of a question over several companies, periods or items.
 * @property {number} [confidence] The probability that the answer is right.
 * @property {string} [unclear] What the question leaves open; then nothing is answered.
 * @property {string} [resolved] The question that was answered, if it was completed from earlier ones.
 *
 * @typedef {object} ParsedQuestion How the question was understood.
 * @property {string} text
 * @property {string[]} companies
 * @property {string[]} unknown_companies
 * @property {string[]} periods
 * @property {string[]} forms
 * @property {string[]} metrics
 * @property {string[]} statements
 *
 * @typedef {object} Cover
 * @property {string} filing_id
 * @property {string} doc_name
 * @property {string} company
 * @property {string} form
 * @property {string|null} cik
 * @property {string|null} ticker
 * @property {string|null} period_end
 * @property {number|null} fiscal_year
 * @property {string|null} fiscal_period
 * @property {boolean} is_amendment
 * @property {number} n_pages
 *
 * @typedef {object} Page
 * @property {string} filing_id
 * @property {string} doc_name
 * @property {string} company
 * @property {string} form
 * @property {number} page
 * @property {number} n_pages
 * @property {string} text
 * @property {string|null} item
 * @property {string|null} statement
 * @property {string|null} place
 * @property {boolean} has_image
 *
 * @typedef {object} Filters
 * @property {string[]} companies
 * @property {string[]} forms
 * @property {number[]} fiscal_years
 *
 * @typedef {object} Stage One step of the work, as its events told of it.
 * @property {string} stage
 * @property {number} iteration
 * @property {"started"|"finished"} state
 * @property {number} [seconds]
 * @property {string[]} [trace]
 * @property {ParsedQuestion} [query]
 * @property {FoundFiling[]} [documents]
 * @property {Passage[]} [passages]
 *
 * @typedef {object} Iteration
 * @property {number} iteration
 * @property {boolean} answerable
 * @property {number} kept
 * @property {string[]} missing
 * @property {string|null} complementary
 *
 * @typedef {object} Failure What went wrong, in words.
 * @property {string} message
 * @property {string} code
 * @property {number} status 0 where no reply came.
 * @property {string} requestId
 * @property {number} retryAfter Seconds; 0 where nothing was said.
 *
 * @typedef {object} Run One question that was asked, and all that is known about it.
 * @property {string} id
 * @property {string} question
 * @property {string[]} [context] The earlier questions of its conversation, oldest first.
 * @property {Filters} filters
 * @property {"running"|"done"|"cancelled"|"failed"} state
 * @property {number} asked When, in milliseconds since 1970.
 * @property {Stage[]} stages
 * @property {Iteration[]} iterations
 * @property {Passage[]} kept
 * @property {Prediction|null} prediction
 * @property {Failure|null} failure
 * @property {string} indexVersion
 * @property {string} requestId
 * @property {number} seconds
 *
 * @typedef {object} Place A page to look at, and what to mark on it.
 * @property {string} filingId
 * @property {number} page
 * @property {string} docName
 * @property {Passage[]} passages
 * @property {Cell[]} cells
 * @property {Block[]} blocks
 * @property {Cell} [focus] The cell that was asked for.
 */

export {};
