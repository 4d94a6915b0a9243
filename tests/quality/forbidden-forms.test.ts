import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { findForbidden, forbiddenForms } from './forbidden-forms.ts';

/** Source of the product. */
const files = execFileSync('git', ['ls-files', 'host', 'plugins'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(ts|js)$/.test(path) && !/\/built\/|\.test\.ts$|^plugins\/[^/]+\/tests\//.test(path));

/** For each form, breaches that must be found. */
const breaches: Readonly<Record<string, readonly string[]>> = {
  'private member through a cast': [
    'const { api } = client as unknown as { api: Api };',
    'x as unknown as {\n  a(): b;\n}',
    'x as unknown as { a: { b(): void } };',
  ],
  'private member': [
    'socket._httpMessage?.headersSent',
    'const query = prototype._query;',
    'interface Watched { readonly _destroyed?: boolean }',
    'protected override makeStatusError() {}',
    'override async _query(connection) {}',
  ],
  'internals of a package': [
    "import Client from 'knex/lib/dialects/postgres/index.js';",
    "require('@scope/a/dist/b.js')",
  ],
  'flag of V8 at run time': ["setFlagsFromString('--no-opt')", 'globalThis.gc?.()', "runInNewContext('gc')()"],
  'code from text': ["new Function('value', code)", 'eval(code)'],
  'replaced member of a prototype': ['Client.prototype.query = watched;', 'Object.getPrototypeOf(knex.client)'],
  'replaced global': [
    'globalThis.Uint8Array = limited;',
    "Reflect.set(globalThis, 'DecompressionStream', undefined)",
    'Object.assign(globalThis, { setTimeout: watched })',
  ],
  'storage that is disabled': ['if (active === 0) storage.disable();'],
  'own cryptography': [
    'const inner = Buffer.alloc(block, 0x36);',
    'outer[index] = 0x5c ^ byte;',
    'let a = 0x6a09e667;',
  ],
};

describe('The source of the product', () => {
  it('reaches behind no library, nor Node or V8', () => {
    expect(files.length).to.be.greaterThan(1_000);
    expect(files.flatMap((path) => findForbidden(path, readFileSync(path, 'utf8')))).to.deep.equal([]);
  });

  it('would not pass with any of the forms', () => {
    expect(Object.keys(breaches)).to.deep.equal(forbiddenForms.map(({ name }) => name));
    for (const [name, codes] of Object.entries(breaches))
      for (const code of codes) expect(findForbidden('host/a.ts', code).join('\n'), code).to.include(`has a ${name} (`);
  });

  it('may have what it is made of', () => {
    for (const code of [
      'const rows = (await knex(table)) as unknown as { readonly id: number }[];',
      'response._links.self; this._started;',
      "import { hash } from 'node:crypto';",
      "import { lines } from '../lib/lines.ts';",
      'if (globalThis.name === undefined) return;',
      'Array.prototype.slice.call(list)',
    ])
      expect(findForbidden('host/a.ts', code), code).to.deep.equal([]);
  });
});
