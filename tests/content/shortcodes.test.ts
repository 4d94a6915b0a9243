import { expect } from 'chai';
import type { Logger } from '#plugin-api';
import { createShortcodes } from '../../host/content/shortcodes/shortcodes.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { silentLog } from '../helpers/silent-log.ts';

function open(log: Logger = silentLog) {
  const hooks = createHooks({ log });
  return { hooks, ...createShortcodes({ hooks, log }) };
}

describe('shortcodes', () => {
  it('may take their time, and run those inside what they enclose when they ask for it', async () => {
    const { addShortcode, doShortcode } = open();
    addShortcode('outer', async (_attributes, content) => `<${await doShortcode(content)}>`);
    addShortcode('inner', async ({ n }) => Promise.resolve(`i${n ?? ''}`));
    expect(await doShortcode('a [outer]x [inner n=1] [inner n="2"][/outer] b')).to.equal('a <x i1 i2> b');
  });

  it('tell tags apart that begin alike, and keep odd ones as text', async () => {
    const { addShortcode, doShortcode } = open();
    addShortcode('a', () => 'A');
    addShortcode('a-b', () => 'AB');
    expect(await doShortcode('[a][a-b][a-c][ab][a.x][a')).to.equal('AAB[a-c][ab]A[a');
    for (const tag of ['', ' ', 'a b', 'a[', '<a', 'a/b', 'a=b', 'a&b'])
      expect(() => addShortcode(tag, () => ''), tag).to.throw('is not a valid shortcode');
  });

  it('give back what their undo takes away: the callback before, in any order', async () => {
    const { addShortcode, doShortcode } = open();
    const first = addShortcode('x', () => '1');
    const second = addShortcode('x', () => '2');
    expect(await doShortcode('[x]')).to.equal('2');
    second();
    second();
    expect(await doShortcode('[x]')).to.equal('1');
    first();
    expect(await doShortcode('[x]')).to.equal('[x]');
  });

  it('that fail leave nothing, a line in the log, and the others running', async () => {
    const lines: string[] = [];
    const { addShortcode, doShortcode } = open({ ...silentLog, error: (message) => void lines.push(message) });
    addShortcode('bad', () => {
      throw new Error('x');
    });
    addShortcode('good', () => 'G');
    expect(await doShortcode('[bad]|[good]')).to.equal('|G');
    expect(lines).to.deep.equal(['Shortcode failed']);
  });

  it('cannot break out of the attribute they stand in, nor swallow the page by a broken tag', async () => {
    const { addShortcode, doShortcode } = open();
    addShortcode('v', ({ x = '' }) => `"><script>${x}`);
    expect(await doShortcode('<a href="[v]">[v]</a>')).to.equal('<a href="&quot;&gt;&lt;script&gt;">"><script></a>');
    expect(await doShortcode('[v x="<b"]')).to.equal('"><script>');
    expect(await doShortcode('1 < 2 [v x=1]')).to.equal('1 < 2 "><script>1');
  });

  it('are filtered before and after', async () => {
    const { addShortcode, doShortcode, hooks } = open();
    addShortcode('x', () => 'out');
    hooks.addFilter('do_shortcode_tag', (output, tag) => `${output}!${tag}`);
    expect(await doShortcode('[x]')).to.equal('out!x');
    hooks.addFilter('pre_do_shortcode_tag', () => 'early');
    expect(await doShortcode('[x]')).to.equal('early');
  });

  it('run 200 times in a text and what it encloses; the rest stays as it is written', async () => {
    const { addShortcode, doShortcode } = open();
    let runs = 0;
    addShortcode('count', () => String((runs += 1)));
    // eslint-disable-next-line max-params -- WordPress's arguments, in its order
    addShortcode('outer', (_attributes, content, _tag, context) => doShortcode(content, context));
    const html = await doShortcode('[count] '.repeat(201));
    expect([runs, html.slice(-12)]).to.deep.equal([200, '200 [count] ']);
    runs = 0;
    await doShortcode(`[outer]${'[count]'.repeat(150)}[/outer]`.repeat(3));
    expect(runs).to.equal(198);
  });

  it('take time in proportion to the text, closed or not', async () => {
    const { addShortcode, doShortcode, stripShortcodes } = open();
    addShortcode('b', () => '');
    // A search for a closing tag from each of them would take minutes.
    expect(await doShortcode('[b]'.repeat(100_000))).to.equal('[b]'.repeat(99_800));
    expect(stripShortcodes(`${'[b]'.repeat(100_000)}[/b]`)).to.equal('');
  });

  it('are sought in a few passes, whatever an author leaves open', async () => {
    const { addShortcode, doShortcode, stripShortcodes, hasShortcode } = open();
    for (const tag of ['a', 'b', 'c']) addShortcode(tag, (...given) => doShortcode(given[1], given[3]));
    const { indexOf } = String.prototype;
    let read = 0;
    String.prototype.indexOf = function (this: string, sought: string, from = 0) {
      const found = indexOf.call(this, sought, from);
      read += (found < 0 ? this.length : found) - from;
      return found;
    };
    try {
      for (const part of [
        '[a b="',
        "[a b='",
        '[a',
        '[[a',
        '[a]',
        '[a][b][c]',
        '[[a]',
        '[a][/b]',
        '[a/',
        '[a [',
        '[a]<!--',
        '[a](x',
        '[a]&',
      ]) {
        const text = part.repeat(64_000 / part.length);
        for (const look of [doShortcode, stripShortcodes, (given: string) => hasShortcode(given, 'none')]) {
          read = 0;
          await look(text);
          expect(read / text.length, `${part}: times that the text was read`).to.be.below(20);
        }
      }
    } finally {
      String.prototype.indexOf = indexOf;
    }
  });

  it('are known, looked for and stripped with what they enclose', () => {
    const { addShortcode, hasShortcode, stripShortcodes, shortcodeExists } = open();
    addShortcode('a', () => '');
    addShortcode('b', () => '');
    expect([
      shortcodeExists('a'),
      shortcodeExists('c'),
      hasShortcode('[a][b][/a]', 'b'),
      hasShortcode('[b', 'b'),
      hasShortcode('[[b]]', 'c'),
    ]).to.deep.equal([true, false, true, false, false]);
    expect(stripShortcodes('1[a x]2[/a]3[[b]]4[c]')).to.equal('13[b]4[c]');
  });
});
