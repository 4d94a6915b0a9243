import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBase, type WorldSource } from './knowledge.ts';
import { createMeasure, type Kind, type Measure } from './measure.ts';
import { startWorldSite, type WorldSite } from './site.ts';
import { compareWords, textOfHtml, wordsOf } from './words.ts';

/* Files and pages that strangers made: which of their words a knowledge base reads. */

interface Sample {
  /** `folder/name`. */
  readonly id: string;
  readonly folder: string;
  readonly file: string;
  /** What the list of files expects beside a text: a reason of a refusal, or null. */
  readonly refusal: string | null;
}

const sidecar = /\.(?:expected\.(?:md|html|txt)|pdftotext\.txt|contains\.txt)$/;
/** Files with fewer words say nothing about a reader. */
const fewestWords = 5;
/** Shares of words from which on a file, an encoding and a page are right. */
const right = { file: 0.9, encoding: 0.97, page: 0.9 };
/** A site that is asked whether it is alive must say so within this time, in milliseconds. */
const longestSilence = 200;

export const kind: Kind = {
  title: 'files: what a knowledge base reads of them',
  async run(folder) {
    const site = await startWorldSite();
    const pulse = watchPulse(site);
    try {
      const measures = new Map<string, Measure>();
      const measure = (name: string): Measure => {
        const found = measures.get(name) ?? createMeasure(name);
        measures.set(name, found);
        return found;
      };
      await readAll(site, folder, measure);
      const silence = createMeasure('times that /healthz answered within 200 ms');
      for (const took of await pulse.stop())
        silence.add('/healthz', took <= longestSilence ? null : `${took.toFixed(0)} ms`);
      return [...[...measures.values()].map((each) => each.row()), silence.row()];
    } finally {
      await site.stop();
    }
  },
};

async function readAll(site: WorldSite, folder: string, measure: (name: string) => Measure): Promise<void> {
  const base = await createBase(site, 'Files');
  const samples = findSamples(folder);
  const taken: Sample[] = [];
  for (const sample of samples) {
    const refusal = await base.upload(new File([readFileSync(join(folder, sample.id))], sample.file));
    if (refusal === null) taken.push(sample);
    else judge({ folder, measure }, sample, { refusal, text: null });
  }
  const long = await base.upload(new File(['all in one line '.repeat(330_000)], 'one-line.txt'));
  const sources = await base.sources();
  measure('5 MB in one line').add('one-line.txt', long ?? messageOf(sources.at(-1)));
  for (const [index, sample] of taken.entries()) {
    const source = sources[index];
    const text = source?.state === 'indexed' ? await base.read(source.id) : null;
    judge({ folder, measure }, sample, { refusal: messageOf(source) ?? '', text });
  }
  await base.close();
}

const messageOf = (source: WorldSource | undefined): string | null =>
  source?.state === 'indexed' ? null : `${source?.state ?? 'lost'}: ${source?.message ?? ''}`;

function findSamples(folder: string): Sample[] {
  const list = readFileSync(join(folder, 'README.md'), 'utf8');
  const refusals = new Map(
    [...list.matchAll(/^\| `([^`]+)` \|.*\| a refusal: ([^|]+) \|/gm)].map(([, id = '', reason = '']) => [id, reason]),
  );
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(join(folder, name))
        .filter((file) => !sidecar.test(file))
        .map((file) => ({
          id: `${name}/${file}`,
          folder: name,
          file,
          refusal: refusals.get(`${name}/${file}`) ?? null,
        })),
    );
}

interface Judging {
  readonly folder: string;
  readonly measure: (name: string) => Measure;
}

interface Outcome {
  readonly refusal: string;
  /** Null when the file was refused. */
  readonly text: string | null;
}

function judge({ folder, measure }: Judging, sample: Sample, { refusal, text }: Outcome): void {
  const { id, refusal: reason } = sample;
  if (reason !== null) {
    const isTrue = text === null && saysReason(reason, refusal);
    return void measure('refusals that say the true reason').add(id, isTrue ? null : `${reason}, but: ${refusal}`);
  }
  const expected = expectedText(folder, sample);
  if (expected === null) return;
  const { name, least, words, phrases } = expected;
  if (text === null) return void measure(name).add(id, `refused: ${refusal}`);
  if (phrases) {
    const lost = phrases.filter((phrase) => !text.replace(/\s+/g, ' ').includes(phrase.replace(/\s+/g, ' ')));
    return void measure(name).add(id, lost.length === 0 ? null : `lacks "${lost[0] ?? ''}"`);
  }
  const { recall, f1 } = compareWords(words, wordsOf(text));
  const figure = name === 'pages' ? f1 : recall;
  measure(name).add(id, figure >= least ? null : figure.toFixed(2));
}

function saysReason(reason: string, sentence: string): boolean {
  return /password/.test(reason)
    ? /password|encrypt/i.test(sentence)
    : /damaged|not a |cannot be read|broken/i.test(sentence);
}

interface Expected {
  readonly name: string;
  readonly least: number;
  readonly words: readonly string[];
  readonly phrases?: readonly string[];
}

/** What a file holds, by others. Null where nobody says. */
function expectedText(folder: string, { id, folder: type, file }: Sample): Expected | null {
  const read = (name: string): string | null =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null;
  const words = (text: string | null): string[] => (text === null ? [] : wordsOf(text));
  if (type === 'encoding') {
    const expected = words(read(`encoding/${file.split('.')[0] ?? ''}.expected.txt`));
    return expected.length === 0 ? null : { name: 'encodings', least: right.encoding, words: expected };
  }
  if (type === 'page') {
    const expected = wordsOf(textOfHtml(read(`${id}.expected.html`) ?? ''));
    return { name: 'pages', least: right.page, words: expected };
  }
  const name = type === 'pdf' ? 'PDF' : ['html', 'txt', 'md'].includes(type) ? 'HTML and text' : 'other kinds';
  const phrases = read(`${id}.contains.txt`)
    ?.split('\n')
    .filter((line) => line.trim() !== '');
  const expected = words(read(`${id}.pdftotext.txt`) ?? read(`${id}.expected.md`));
  if (phrases && expected.length === 0) return { name, least: 1, words: [], phrases };
  return expected.length < fewestWords ? null : { name, least: right.file, words: expected };
}

/** Asks the site ten times a second whether it is alive; answers how long each took in milliseconds. */
function watchPulse({ url }: WorldSite): { stop(): Promise<readonly number[]> } {
  const took: number[] = [];
  let isOver = false;
  const run = (async () => {
    while (!isOver) {
      const began = performance.now();
      await (await fetch(`${url}/healthz`)).arrayBuffer();
      took.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await run;
      return took;
    },
  };
}
