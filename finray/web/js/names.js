// Names of companies as people write them: "Best Buy" of "BEST BUY CO., INC.".

const SMALL = new Set(["the", "and", "of", "for", "in", "a"]);
const SHORT = new Map([
  ["inc", "Inc"],
  ["co", "Co"],
  ["corp", "Corp"],
  ["ltd", "Ltd"],
  ["plc", "plc"],
  ["new", "New"],
]);
/** Words of three letters and less in names of companies; others of that length are taken for initials. */
const WORDS = new Set(
  (
    "ace aid air all any arc arm art bay bed bee bid big bio bit box boy bus buy by can cap car cat cup dog " +
    "dr dry eco egg el end era eye fan far fed fit fix fly fox fun gap gas gem go gum hat hot hub ice ink inn " +
    "jet job joy key kid la lab law le leg log lot low map max med mid mix my net new no nu nut oak oil old " +
    "on one our out own pan pay pen pet pie pin pop pot pro ray red rio run san sea ski sky spa sub sun tap " +
    "tax tea ten tie tin tip to top toy tri two up van vet via wax way we web win you zoo"
  ).split(" "),
);
const FORM =
  /[,\s]+(?:&\s*)?(?:and\s+)?(?:inc|incorporated|corp|corporation|co|company|plc|ltd|limited|llc|l\.l\.c|n\.v|s\.a)\.?$/i;

/** A name that a cover prints in capitals, as one writes it in a sentence; others stay as they are. */
/** @param {string} name */
export function cased(name) {
  if (name !== name.toUpperCase() || /^\w{1,5}$/.test(name)) return name; // or a ticker
  return name.replace(/[\p{L}\p{N}.'’]+/gu, (word, at) => {
    const lower = word.toLowerCase();
    const bare = lower.replace(/\.$/, "");
    const short = SHORT.get(bare);
    if (short) return short + word.slice(bare.length);
    if (SMALL.has(bare) && at > 0) return lower;
    if (word.length <= 3 && !SMALL.has(bare) && !WORDS.has(bare)) return word;
    return lower.charAt(0).toUpperCase() + lower.slice(1);
  });
}

/** The name in a sentence, without its legal form. @param {string} name */
export function companyName(name) {
  let short = cased(name.trim());
  for (let next = short.replace(FORM, ""); next !== short && !/^(the)?$/i.test(next); next = short.replace(FORM, ""))
    short = next;
  return short.replace(/^The (?=\S)/, "") || cased(name);
}
