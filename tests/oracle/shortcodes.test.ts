import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { createShortcodes } from '../../host/content/shortcodes/shortcodes.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { sameForm } from './replay.ts';

interface Recording {
  readonly name: string;
  readonly calls: string;
  readonly returns: unknown;
}

async function readRecording(name: string): Promise<Recording> {
  const recordings = JSON.parse(await readFile(new URL('shortcodes.json', import.meta.url), 'utf8')) as Recording[];
  const found = recordings.find((recording) => recording.name === name);
  if (found === undefined) throw new Error(`There is no recording '${name}'.`);
  return found;
}

describe('recorded shortcodes of WordPress', () => {
  it('are read alike: attributes, enclosed content, nesting, escapes', async () => {
    const { calls, returns } = await readRecording('shortcodes');
    const texts = calls.slice(calls.indexOf('run over: ') + 'run over: '.length).split(' | ');
    const { addShortcode, doShortcode } = createShortcodes({ hooks: createHooks(), log: silentLog });
    addShortcode('b', (...[attributes, content, tag]) => JSON.stringify([attributes, content, tag]));
    const answers: string[] = [];
    for (const text of texts) answers.push(await doShortcode(text));
    expect(answers.map(comparable)).to.deep.equal((returns as string[]).map(comparable));
  });

  it('have the same functions around them', async () => {
    const { returns } = await readRecording('shortcode api');
    const shortcodes = createShortcodes({ hooks: createHooks(), log: silentLog });
    const undo = shortcodes.addShortcode('b', () => 'B');
    const before = [
      shortcodes.shortcodeExists('b'),
      shortcodes.hasShortcode('x [b] y', 'b'),
      shortcodes.stripShortcodes('a[b]c'),
      shortcodes.shortcodeAttributes({ x: 1, y: 2 }, { y: 3, z: 4 } as unknown as Record<string, string>),
    ];
    undo();
    expect([...before, await shortcodes.doShortcode('[b]')]).to.deep.equal(returns);
  });
});

/** The JSON in an answer as a value: members named by numbers come first in JavaScript, and PHP shows an empty map as a list. */
function comparable(answer: string): unknown {
  const [, json = '', rest = ''] = /^(\[.*\])([^\]]*)$/s.exec(answer) ?? [];
  return isJson(json) ? [sameForm(JSON.parse(json)), rest] : answer.replaceAll('[[],', '[{},');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
