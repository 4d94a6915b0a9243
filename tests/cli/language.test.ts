import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { translatorWithoutSite } from '../../host/cli/terminal-language.ts';

describe('the command line in another language', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: 'found', env: { LANG: 'en_XA.UTF-8' } });
  });
  after(() => host.stop());

  it('prints messages and errors in it, but no data and nothing for programs', async () => {
    const run = async (...argv: string[]): Promise<string> => {
      const { out, err } = await host.cli(...argv);
      return (out + err).trim();
    };
    expect(await run('option', 'set', 'blogname', 'Settings')).to.match(/^⟦.*⟧$/);
    expect(await run('option', 'get', 'blogname')).to.equal('Settings');
    expect(await run('option', 'get', 'missing')).to.match(/^⟦Èrròr⟧: ⟦.*⟧$/);
    expect(await run('option', 'gett')).to.match(/^⟦Èrròr⟧: ⟦.*⟧(\n⟦.*⟧)?$/);
    expect(await run('option', 'get', 'missing', '--json')).to.match(/^Error: Option 'missing' does not exist/);
    expect(await run('option', 'list', 'blogname', '--json')).not.to.include('⟦');
    expect(await run('user', 'list')).not.to.include('⟦Àd');
  });
});

describe('errors of commands in German', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: 'found', env: { LANG: 'de_DE.UTF-8' } });
  });
  after(() => host.stop());

  const errorOf = async (...argv: string[]): Promise<string> => (await host.cli(...argv)).err.trim();

  it('say what to do', async () => {
    expect(await errorOf('option', 'get', 'missing')).to.equal(
      'Fehler: Die Option „missing“ gibt es nicht. „option list“ zeigt alle Optionen.',
    );
    expect(await errorOf('svc', 'key', 'revoke', 'missing')).to.match(/^Fehler: .*svc key list zeigt die IDs\.$/);
    expect(await errorOf('jobs', 'list', '--limit=many')).to.equal(
      'Fehler: --limit muss eine ganze Zahl von 1 bis 1.000 sein.',
    );
    expect(await errorOf('plugin', 'activate', 'missing')).to.match(/^Fehler: Das Plugin „missing“ gibt es/);
  });

  it('are findings of a check of a plugin, whose rules and places are data', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-checked-'));
    try {
      await writeFile(join(folder, 'plugin.json'), '{ "slug": "x" }');
      const { out, err } = await host.cli('plugin', 'check', folder);
      expect(out).to.match(/^Fehler +manifest +plugin\.json +„name“ fehlt; verlangt ist: ein nicht leerer Text\./m);
      expect(err.trim()).to.equal('Fehler: Die Prüfung fand 1 Fehler.');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('are findings of the doctor, and reasons why the site does not start', async () => {
    expect(await errorOf('doctor')).to.match(/^Administrator: Es gibt noch keinen Administrator; öffnen Sie/m);
    expect(await errorOf('doctor', '--json')).to.match(/^administrator: No administrator yet; open/m);
    const translate = translatorWithoutSite('de_DE');
    const newer =
      "The database is newer than this code: it has the migration '9_future' of 'host', which is unknown here. " +
      'Start the newer version, or restore a backup created by this version.';
    expect(translate(`The site was not started. ${newer} A backup was saved as /data/a.jsonl.gz.`)).to.match(
      /^Die Website wurde nicht gestartet\. Die Datenbank ist neuer .* stellen Sie eine Sicherung .* Eine Sicherung wurde als /,
    );
    expect(translate('Port 80 is in use. Stop the program that uses it, or set PORT to another one.')).to.match(
      /^Port 80 ist belegt\./,
    );
  });
});

describe('the language of a command line', () => {
  const outputIn = async (env: Readonly<Record<string, string>>): Promise<string> => {
    const host = await createTestHost({ env });
    try {
      return (await host.cli('option', 'get', '--help')).out;
    } finally {
      await host.stop();
    }
  };

  it('is that of LC_ALL, LC_MESSAGES or LANG, in this order', async () => {
    const german = await outputIn({ LC_ALL: 'de_DE.UTF-8', LANG: 'en_US.UTF-8' });
    expect(german).to.include('Gibt den Wert einer Option').and.include('Verwendung: cli option get [Optionen] <name>');
    expect(german).not.to.match(/Usage|Options|Arguments|display help/);
    expect(await outputIn({ LC_MESSAGES: 'de_AT', LANG: 'C' })).to.include('Verwendung:');
  });

  it('is English where there is no catalog', async () => {
    for (const LANG of ['C', 'C.UTF-8', 'fr_FR.UTF-8', 'nonsense'])
      expect(await outputIn({ LANG, LC_ALL: '' })).to.include('Usage: cli option get [options] <name>');
  });
});
