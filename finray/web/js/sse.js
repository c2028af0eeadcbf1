// Server-sent events from a fetch, which can POST and be aborted (EventSource can neither).

/**
 * The events of a stream (WHATWG HTML, section 9.2), as `{name, data}`; comments are left out.
 *
 * @param {ReadableStream<Uint8Array>} stream
 * @returns {AsyncGenerator<{name: string, data: string}>}
 */
export async function* readEvents(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = readBlock(block);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** @param {string} block @returns {{name: string, data: string}|null} */
function readBlock(block) {
  let name = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: data.join("\n") } : null;
}
