/** Characters of a sample. */
export const sampleLength = 20_000;
/** Characters of one slice of it. */
const sliceLength = 200;

/**
 * Slices from all over long texts, or the texts whole if they are as short as a sample. Each slice starts at random in its part of
 * the texts, so that no caller can write a text whose sample is unlike the rest. No text is copied.
 */
export function sampleOf(texts: readonly string[], random: () => number = Math.random): string {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= sampleLength) return texts.length === 1 ? textAt(texts, 0) : texts.join('');
  const slices = sampleLength / sliceLength;
  const step = (characters - sliceLength) / slices;
  let [index, before] = [0, 0];
  const sample: string[] = [];
  for (let count = 0; count < slices; count += 1) {
    const start = Math.floor((count + random()) * step);
    while (before + textAt(texts, index).length <= start) {
      before += textAt(texts, index).length;
      index += 1;
    }
    sample.push(sliceAt(texts, index, start - before));
  }
  return sample.join('');
}

function textAt(texts: readonly string[], index: number): string {
  return texts[index] ?? '';
}

/** A slice that begins within a text, and goes on in the next ones. */
function sliceAt(texts: readonly string[], first: number, from: number): string {
  let slice = textAt(texts, first).slice(from, from + sliceLength);
  for (let index = first + 1; slice.length < sliceLength && index < texts.length; index += 1)
    slice += textAt(texts, index).slice(0, sliceLength - slice.length);
  return slice;
}
