import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from 'chai';

import { createViews, type Views, type ViewsDependencies } from '../../host/views/views.ts';

const hostViews = fileURLToPath(new URL('../../views', import.meta.url));

describe('views', () => {
  let folder: string;
  let views: Views;
  const open = (more: Partial<ViewsDependencies> = {}): Views =>
    createViews({ directories: [join(folder, 'site')], ...more });
  const write = async (path: string, text: string): Promise<string> => {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return file;
  };
  const show = async (template: string, data: Record<string, unknown> = {}): Promise<string> => {
    await write('site/try/it.hbs', template);
    return open({ directories: [join(folder, 'site'), hostViews] }).render('try/it', data);
  };
  const failure = async (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'no error',
      (error: unknown) => (error as Error).message,
    );

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'views-'));
    views = open();
    views.addSource('svc', join(folder, 'plugin'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  describe('lookup', () => {
    it("takes the site's folder before the plugin's own, for partials too", async () => {
      await write('plugin/page.hbs', 'plugin {{> svc/part}} {{> svc/other}}');
      await write('plugin/part.hbs', 'plugin part');
      await write('plugin/other.hbs', 'plugin other');
      expect(await views.render('svc/page')).to.equal('plugin plugin part plugin other');
      await write('site/svc/part.hbs', 'site part');
      expect(await views.render('svc/page')).to.equal('plugin site part plugin other');
      await write('site/svc/page.hbs', 'site');
      expect(await views.render('svc/page')).to.equal('site');
    });

    it('names the files it looked for when there is none', async () => {
      await write('plugin/page.hbs', '{{> svc/gone}}');
      expect(await failure(views.render('svc/nothing')))
        .to.contain(`Template 'svc/nothing' not found`)
        .and.contain(join(folder, 'site/svc/nothing.hbs'))
        .and.contain(join(folder, 'plugin/nothing.hbs'));
      expect(await failure(views.render('svc/page'))).to.contain(`Template 'svc/gone' not found`);
    });

    it('never leaves its folders', async () => {
      await write('secret.hbs', 'secret');
      for (const name of [
        'svc/../../secret',
        '../secret',
        'svc//secret',
        '/etc/passwd',
        'svc',
        'svc/.hidden',
        'svc\\x/y',
      ]) {
        expect(await failure(views.render(name))).to.contain('is not a template name');
      }
    });

    it("forgets a plugin's folder with its undo", async () => {
      await write('more/page.hbs', 'more');
      const undo = views.addSource('more', join(folder, 'more'));
      expect(await views.render('more/page')).to.equal('more');
      undo();
      expect(await failure(views.render('more/page'))).to.contain('not found. Searched:');
    });

    it('renders one file with the helpers of each host', async () => {
      await write('plugin/page.hbs', '{{who}}');
      const other = open();
      other.addSource('svc', join(folder, 'plugin'));
      views.addHelper('who', () => 'one');
      const undo = other.addHelper('who', () => 'other');
      expect([await views.render('svc/page'), await other.render('svc/page')]).to.deep.equal(['one', 'other']);
      undo();
      expect([await views.render('svc/page'), await other.render('svc/page')]).to.deep.equal(['one', '']);
    });

    it('reads a changed file again, or with reload off never', async () => {
      const file = await write('plugin/page.hbs', 'one');
      const fixed = open({ reload: false });
      fixed.addSource('svc', join(folder, 'plugin'));
      expect([await views.render('svc/page'), await fixed.render('svc/page')]).to.deep.equal(['one', 'one']);
      await writeFile(file, 'two');
      await utimes(file, 1, 1);
      expect([await views.render('svc/page'), await fixed.render('svc/page')]).to.deep.equal(['two', 'one']);
    });
  });

  describe('output', () => {
    it('is escaped, in text and in attributes', async () => {
      expect(await show('<a title="{{text}}">{{text}}</a>', { text: `<b>"'&` })).to.equal(
        '<a title="&lt;b&gt;&quot;&#x27;&amp;">&lt;b&gt;&quot;&#x27;&amp;</a>',
      );
    });

    it('is raw for safe values alone', async () => {
      expect(await show('{{html}}', { html: views.safe('<b>x</b>') })).to.equal('<b>x</b>');
      for (const raw of ['{{{html}}}', '{{&html}}', '{{#if html}}{{{html}}}{{/if}}'])
        expect(await failure(show(raw, { html: '<b>' }))).to.contain('line 1: raw output is not allowed');
    });

    it('reaches no prototype', async () => {
      class Person {
        readonly name = 'Ann';
        get secret(): string {
          return 'secret';
        }
        shout(): string {
          return 'secret';
        }
      }
      const template =
        '{{person.name}}|{{person.secret}}|{{person.shout}}|{{person.constructor}}|{{constructor.constructor}}|{{__proto__}}|{{lookup person "constructor"}}|{{list.map}}';
      expect(await show(template, { person: new Person(), list: [] })).to.equal('Ann|||||||');
    });

    it('keeps the lines of a text in a partial as they are', async () => {
      const html = await show(
        '<div>\n    {{> admin/field id="a" name="a" type="textarea" label="A" value=text}}\n</div>',
        { text: 'one\n  two\nthree' },
      );
      expect(html).to.contain('>one\n  two\nthree</textarea>');
    });
  });

  describe('partials', () => {
    it('with named values see these alone', async () => {
      await write('site/try/part.hbs', '[{{name}}|{{value}}|{{@root.value}}]');
      expect(await show('{{> try/part name="n"}}{{> try/part}}{{> try/part this name="n"}}', { value: 'v' })).to.equal(
        '[n||v][|v|v][n|v|v]',
      );
    });

    it('around a block see their named values alone, and the block the page', async () => {
      await write('site/try/box.hbs', '<{{title}}{{value}}>{{#if title}}{{> @partial-block}}{{/if}}</>');
      const template =
        '{{#each items}}{{#> try/box title="t"}}{{value}}{{../value}}{{#> try/box title="u"}}{{this.value}}{{/try/box}}{{/try/box}}{{/each}}';
      expect(await show(template, { value: 'v', items: [{ value: 'i' }] })).to.equal('<t>iv<u>i</></>');
    });

    it('may be written inline and may call themselves', async () => {
      expect(await show('{{#*inline "mine"}}<{{x}}>{{/inline}}{{> mine x=1}}')).to.equal('<1>');
      await write('site/try/tree.hbs', '{{name}}{{#each children}}({{> try/tree}}){{/each}}');
      expect(
        await show('{{> try/tree tree}}', {
          tree: { name: 'a', children: [{ name: 'b' }, { name: 'c', children: [{ name: 'd' }] }] },
        }),
      ).to.equal('a(b)(c(d))');
    });

    it('must be named in the template', async () => {
      expect(await failure(show('{{> (lookup . "name")}}', { name: 'admin/field' }))).to.contain('must be literal');
    });
  });

  it('names the template of a syntax error', async () => {
    expect(await failure(show('{{#if x}}'))).to.contain(`The template 'try/it' cannot be read`);
  });

  describe('helpers', () => {
    const at = Date.UTC(2026, 10, 20, 23, 30, 5);
    const cases: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['{{#if (eq a "x")}}y{{/if}}{{#if (ne a "x")}}n{{/if}}', { a: 'x' }, 'y'],
      ['{{#if (and a (not b) (or b c))}}y{{/if}}', { a: 1, b: 0, c: 2 }, 'y'],
      ['{{or b c "d"}}', { b: '', c: null }, 'd'],
      ['{{#if (given zero)}}y{{/if}}{{#if (given empty)}}n{{/if}}', { zero: 0, empty: '' }, 'y'],
      ['{{#if (includes list "b")}}y{{/if}}', { list: ['a', 'b'] }, 'y'],
      ['{{concat "a-" b}}', { b: 2 }, 'a-2'],
      ['<i data-x="{{json value}}">', { value: { a: '"<' } }, '<i data-x="{&quot;a&quot;:&quot;\\&quot;&lt;&quot;}">'],
      ['{{number 1234567.5}} {{number "x"}}', {}, '1,234,567.5 x'],
      ['{{plural 1 "key" "keys"}}, {{plural 1200 "key" "keys"}}', {}, '1 key, 1,200 keys'],
      ['{{wait 180000}} {{wait 1}}', {}, '3 minutes 1 second'],
      ['{{duration 340}} {{duration 2400}} {{duration 180000}} {{duration 7200000}}', {}, '340 ms 2.4 s 3 min 2 h'],
      ['{{date at}} | {{dateTime at}} | {{time at}}', { at }, '20 Nov 2026 | 20 Nov 2026, 23:30 | 23:30:05'],
      ['[{{date none}}{{date "nonsense"}}]', {}, '[]'],
      [
        '{{icon "gear"}}{{icon "<x>"}}',
        {},
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="/assets/admin/icons.svg#gear"></use></svg>',
      ],
      [
        '{{icon "shop/icons.svg#cart"}}{{icon "shop/icons.svg"}}{{icon "shop/../icons.svg#cart"}}',
        {},
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="/assets/shop/icons.svg#cart"></use></svg>',
      ],
      ['{{asset "svc/settings.js"}} {{adminUrl}} {{adminUrl "svc"}}', {}, '/assets/svc/settings.js /admin/ /admin/svc'],
    ];
    for (const [template, data, expected] of cases) {
      it(`return ${template}`, async () => expect(await show(template, data)).to.equal(expected));
    }

    it("write times in the site's time zone, and in UTC where it is unknown", async () => {
      await write('plugin/page.hbs', '{{dateTime at}}');
      for (const [timezone, expected] of [
        ['Asia/Tokyo', '21 Nov 2026, 08:30'],
        ['Nowhere/Else', '20 Nov 2026, 23:30'],
      ] as const) {
        const zoned = open({ timezone: async () => timezone });
        zoned.addSource('svc', join(folder, 'plugin'));
        expect(await zoned.render('svc/page', { at })).to.equal(expected);
      }
    });

    it('know the page of the frame and its nonce', async () => {
      await write('plugin/page.hbs', '{{actionUrl "save"}} {{nonceField}} {{@site.name}}');
      expect(
        await views.render('svc/page', {}, { page: { slug: 'svc' }, nonce: 'a"b', site: { name: 'Tea' } }),
      ).to.equal('/admin/svc?action&#x3D;save <input type="hidden" name="_nonce" value="a&quot;b"> Tea');
    });

    it('of plugins are escaped unless safe, undone with their undo, and cannot take a name twice', async () => {
      await write('plugin/page.hbs', '{{shout "<a>"}}{{bold "b"}}');
      const undo = views.addHelper('shout', (text) => `${String(text)}!`);
      views.addHelper('bold', (text) => views.safe(`<b>${String(text)}</b>`));
      expect(await views.render('svc/page')).to.equal('&lt;a&gt;!<b>b</b>');
      expect(() => views.addHelper('shout', () => '')).to.throw('already exists');
      expect(() => views.addHelper('eq', () => '')).to.throw('already exists');
      undo();
      expect(await failure(views.render('svc/page'))).to.contain('shout');
    });

    it('may not return promises', async () => {
      await write('plugin/page.hbs', '{{later}}');
      views.addHelper('later', async () => 'x');
      expect(await failure(views.render('svc/page'))).to.contain('returned a promise');
    });
  });
});
