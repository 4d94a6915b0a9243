// Where a post is shown, what its HTML says must do nothing.
if (!document.querySelector(':root.admin')) throw new Error('not-in-admin');

/** A reader of the text of a response, which can be canceled. */
export const textReader = (response) => response.body.pipeThrough(new TextDecoderStream()).getReader();

/** The events of a response as they arrive, as `{event, data}`. */
export async function* readEvents(reader) {
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event) yield { event, data: JSON.parse(data) };
    }
  }
}
