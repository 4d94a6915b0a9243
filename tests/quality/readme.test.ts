import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { renderParamsTable } from '../../plugins/svc/providers/params-table.ts';
import { createProviderRegistry } from '../../plugins/svc/providers/registry.ts';

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n');
const readmes = tracked.filter((file) => /(^|\/)README\.md$/.test(file) && existsSync(file));
const read = (file: string): string => readFileSync(file, 'utf8');

/** A formatter pads the cells of a table; what they say is the same. */
const withoutPadding = (markdown: string): string => markdown.replace(/ +\|/g, ' |').replace(/\| *-+ *(?=\|)/g, '|-');

describe('the README', () => {
  it('has the table of AI parameters that the providers give', async () => {
    const registry = await createProviderRegistry({ hooks: createHooks() });
    expect(withoutPadding(read('README.md'))).to.include(withoutPadding(renderParamsTable(registry.all())));
  });

  it('names every variable that is read, and no other', () => {
    const inCode = [...read('host/config.ts').matchAll(/(?:read|oneOf)\('([A-Z_]+)'/g)].map(([, name]) => name);
    const [, section = ''] = /### Environment\n([\s\S]*?)\n###/.exec(read('README.md')) ?? [];
    const inTable = [...section.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
    );
    expect([...new Set(inTable)].sort()).to.deep.equal([...new Set(inCode)].sort());
  });

  for (const file of readmes) {
    it(`links to files that are there (${file})`, () => {
      const links = [...read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path = '']) => path);
      expect(links.filter((path) => !existsSync(join(dirname(file), path)))).to.deep.equal([]);
    });
  }
});
