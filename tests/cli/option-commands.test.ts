import { expect } from 'chai';
import { optionCommands } from '../../host/cli/option-commands.ts';
import { createCliRegistry } from '../../host/cli/registry.ts';
import { createSystemClock } from '../../host/clock.ts';
import { openDatabase, type Database } from '../../host/database/database.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createOptions, migrations, type Options } from '../../host/options/options.ts';
import { silentLog } from '../helpers/silent-log.ts';

describe('the option commands', () => {
  let database: Database;
  let options: Options;

  beforeEach(async () => {
    const clock = createSystemClock();
    database = await openDatabase({ databaseUrl: null, dataDir: ':memory:', clock, log: silentLog });
    await database.migrate('host', migrations);
    options = createOptions({ database, hooks: createHooks(), clock, log: silentLog });
  });

  afterEach(() => database.close());

  async function run(...argv: string[]): Promise<string> {
    const registry = createCliRegistry();
    for (const command of optionCommands(options)) registry.addCommand(command);
    let said = '';
    const code = await registry.run(argv, { out: (text) => (said += text), err: (text) => (said += text) });
    return `${code} ${said}`;
  }

  it('set JSON where it is JSON, else the text', async () => {
    expect(await run('option', 'set', 'limits', '{"a":[1,true]}')).to.equal("0 Option 'limits' updated.");
    expect(await options.get('limits')).to.deep.equal({ a: [1, true] });
    await run('option', 'set', 'blogname', 'My site');
    expect(await options.get('blogname')).to.equal('My site');
    await run('option', 'set', 'count', '7');
    expect(await options.get('count')).to.equal(7);
    expect(await run('option', 'set', 'count', '7')).to.equal("0 Option 'count' already has this value.");
  });

  it('set no member that other code would take for a prototype, as REST does not', async () => {
    expect(await run('option', 'set', 'limits', '{"a":[{"__proto__":{"b":1}}]}')).to.equal(
      '1 Error: limits.a.0 must not have a member named __proto__.',
    );
    expect(await options.get('limits')).to.equal(false);
  });

  it('get values, registered defaults and a stored false, and say what is absent', async () => {
    await options.update('limits', { a: 1 });
    await options.add('off', false);
    options.registerSetting('preset', { group: 'general', schema: { type: 'string', default: 'here' } });
    expect(await run('option', 'get', 'limits', '--json')).to.equal('0 {\n  "a": 1\n}');
    expect(await run('option', 'get', 'off')).to.equal('0 false');
    expect(await run('option', 'get', 'preset')).to.equal('0 here');
    expect(await run('option', 'get', 'absent')).to.equal(
      "1 Error: Option 'absent' does not exist. Run 'option list' to see all options.",
    );
  });

  it('never print a secret of a registered setting', async () => {
    await options.update('shop', { key: 'plain-key-1', accounts: [{ key: 'plain-key-2', name: 'a' }] });
    await options.update('shop_key', 'plain-key-3');
    const key = { type: 'string', writeOnly: true } as const;
    options.registerSetting('shop_key', { group: 'shop', schema: key });
    options.registerSetting('shop', {
      group: 'shop',
      schema: {
        type: 'object',
        properties: { key, accounts: { type: 'array', items: { type: 'object', properties: { key } } } },
      },
    });
    expect(JSON.parse((await run('option', 'get', 'shop', '--json')).slice(2))).to.deep.equal({
      key: '[encrypted]',
      accounts: [{ key: '[encrypted]', name: 'a' }],
    });
    expect(await run('option', 'get', 'shop_key')).to.equal('0 [encrypted]');
    expect(await run('option', 'list')).not.to.include('plain-key');
  });

  it('never print an encrypted secret', async () => {
    await options.update('svc_provider_openai', { api_key: 'enc:v1:abc', list: ['enc:v1:def'], model: 'gpt' });
    await options.update('svc_api_key', 'enc:v1:ghi');
    for (const output of [
      await run('option', 'get', 'svc_provider_openai'),
      await run('option', 'list'),
      await run('option', 'get', 'svc_api_key', '--json'),
    ]) {
      expect(output).to.include('[encrypted]').and.not.include('enc:v1:');
    }
  });

  it('list by prefix and delete', async () => {
    for (const name of ['a_1', 'a_2', 'b_1']) await options.update(name, name);
    expect(await run('option', 'list', 'a_')).to.equal('0 name  value\na_1   a_1\na_2   a_2');
    expect(await run('option', 'delete', 'a_1')).to.equal("0 Option 'a_1' deleted.");
    expect(await run('option', 'delete', 'a_1')).to.match(/^1 Error: Option 'a_1' does not exist/);
  });
});
