import { expect } from 'chai';
import type { CliCommand, HostApi } from '#plugin-api';
import { keyCommands } from '../../../plugins/svc/settings/settings-commands.ts';
import { providerCommands } from '../../../plugins/svc/settings/settings-commands.ts';
import { sandboxCommands } from '../../../plugins/svc/settings/settings-commands.ts';
import { createModelLists } from '../../../plugins/svc/settings/model-lists.ts';
import { createProviderTester } from '../../../plugins/svc/settings/provider-tester.ts';
import type { SettingsContext } from '../../../plugins/svc/settings/settings.ts';
import { acme, createFakeSettings, type FakeSettings } from './fake-settings.ts';

interface Terminal extends FakeSettings {
  run(name: string, args?: readonly string[], flags?: Readonly<Record<string, unknown>>): Promise<unknown>;
  command(name: string): CliCommand;
}

function createTerminal(): Terminal {
  const fake = createFakeSettings();
  const context: SettingsContext = {
    host: {} as HostApi,
    settings: fake.settings,
    providers: { get: (id) => (id === 'acme' ? acme : undefined), all: () => [acme] },
    tester: createProviderTester({
      lists: createModelLists(fake),
      probe: async () => ({ ok: false, models: [], milliseconds: 1, message: 'Acme is down.' }),
    }),
  };
  const commands = [...keyCommands(context), ...providerCommands(context, [acme]), ...sandboxCommands(context)];
  const command = (name: string): CliCommand => commands.find((candidate) => candidate.name === name)!;
  return { ...fake, command, run: (name, args = [], flags = {}) => command(name).run({ args, flags }) };
}

describe('the commands of the service', () => {
  it('accept a short key with a warning (contract 5.2, D39)', async () => {
    const { run } = createTerminal();
    expect(await run('svc key set', ['1']))
      .to.have.property('warning')
      .that.contains('fewer than 24 characters');
    expect(await run('svc key set', ['x'.repeat(24)])).not.to.have.property('warning');
  });

  it('set, generate and clear the key; only generate prints one', async () => {
    const { run, settings } = createTerminal();
    expect(JSON.stringify(await run('svc key set', ['a key of my own, and long enough']))).not.to.contain(
      'a key of my own, and long enough',
    );
    const { key } = (await run('svc key generate')) as { key: string };
    expect(await settings.restKey.masked()).to.equal(`ends in ${key.slice(-4)}`);
    await run('svc key clear');
    expect(await settings.restKey.masked()).to.equal(null);
  });

  it('set what the flags name, with commas in lists, and print no secret', async () => {
    const { run, settings } = createTerminal();
    const printed = await run('svc provider set', ['acme'], {
      'api-key': 'sk-0123456789abcdef',
      'base-url': 'https://acme.test/v2/',
      deployments: 'a=b,c',
    });
    expect(printed).to.deep.include({
      id: 'acme',
      configured: true,
      api_key: 'ends in cdef',
      base_url: 'https://acme.test/v2',
    });
    expect(JSON.stringify(printed)).not.to.contain('0123456789');
    expect(await settings.provider('acme')).to.deep.include({
      api_key: 'sk-0123456789abcdef',
      deployments: ['a=b', 'c'],
    });
    await run('svc provider set', ['acme'], { 'api-key': '' });
    expect(await run('svc provider list')).to.deep.equal([
      {
        id: 'acme',
        label: 'Acme',
        configured: false,
        api_key: '',
        base_url: 'https://acme.test/v2',
        model: 'acme-1',
        deployments: ['a=b', 'c'],
      },
    ]);
  });

  it('offer every flag of the operator contract', () => {
    const flags = Object.keys(createTerminal().command('svc provider set').flags ?? {});
    expect(flags).to.include.members(['api-key', 'base-url', 'model', 'embedding-model', 'image-model', 'api-version']);
  });

  const mistakes: [string, string, string[], Record<string, unknown>, RegExp][] = [
    ['an unknown provider', 'svc provider set', ['unknown'], { model: 'x' }, /Unknown provider 'unknown'.*acme/],
    ['nothing to change', 'svc provider set', ['acme'], {}, /Name the settings to change/],
    [
      'a setting the provider does not have',
      'svc provider set',
      ['acme'],
      { 'api-version': 'v1' },
      /no setting named api_version/,
    ],
    [
      'an odd address',
      'svc provider set',
      ['acme'],
      { 'base-url': 'ftp://x' },
      /Base URL must be an http or https URL/,
    ],
    ['a blank key', 'svc key set', [' '], {}, /Enter a key/],
    ['a provider that fails its test', 'svc provider test', ['acme'], {}, /^Acme is down\.$/],
    ['a sandbox where there is none', 'svc sandbox on', [], {}, /sandbox is not available/],
  ];
  for (const [name, command, args, flags, sentence] of mistakes) {
    it(`fail with a sentence for ${name}`, async () => {
      const error = await createTerminal()
        .run(command, args, flags)
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Error);
      expect((error as Error).message).to.match(sentence);
    });
  }
});
