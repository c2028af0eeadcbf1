// Questions that were pasted, or stand in a text file, as a file that the service reads.

/** One question a line; the line's number on the page does not matter. @param {string} text @returns {string[]} */
export const questionsIn = (text) =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

/** A table of one column. @param {string[]} questions @param {string} name */
export function tableOf(questions, name) {
  const cells = ["question", ...questions].map((text) => `"${text.replaceAll('"', '""')}"\r\n`);
  return new File(cells, name, { type: "text/csv" });
}

/** @param {File} file */
export const isText = (file) => /\.txt$/i.test(file.name);

/** @param {File} file */
export const tableOfText = async (file) =>
  tableOf(questionsIn(await file.text()), file.name.replace(/\.txt$/i, ".csv"));
