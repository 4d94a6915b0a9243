import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../../host/start/config.ts';
import { describeEnvironment, describeMisspelled, findMisspelled } from '../../../host/start/environment.ts';
import { secretVariables, variables } from '../../../host/start/variables.ts';

const cli = join(import.meta.dirname, '../../../host/cli/main.js');

describe('the environment', () => {
  let folder: string;
  const write = (name: string, text: string | Buffer): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const failure = (env: Record<string, string>): string => {
    try {
      readConfig(env, folder);
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'environment-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('reads each secret from a file that a variable names, without the line break at its end', () => {
    const config = readConfig({
      SECRET_KEY_FILE: write('key', 'a key of sixteen characters\n'),
      SECRET_KEY_PREVIOUS_FILE: write('previous', 'the key before it\r\n'),
      DATABASE_URL_FILE: write('database', 'postgres://user:password@pool/site'),
      DATABASE_DIRECT_URL_FILE: write('direct', 'postgres://user:password@db/site'),
      METRICS_TOKEN_FILE: write('token', ' token '),
      ADMIN_USER: 'ada',
      ADMIN_EMAIL: 'ada@example.com',
      ADMIN_PASSWORD_FILE: write('password', 'a long password'),
    });
    const { secretKey, previousSecretKey, databaseUrl, databaseDirectUrl, metricsToken } = config;
    expect([secretKey, previousSecretKey, databaseUrl, databaseDirectUrl, metricsToken]).to.deep.equal([
      'a key of sixteen characters',
      'the key before it',
      'postgres://user:password@pool/site',
      'postgres://user:password@db/site',
      'token',
    ]);
    expect(config.admin?.password).to.equal('a long password');
    expect([...secretVariables].map((name) => `${name}_FILE`)).to.have.length(6);
  });

  it('refuses a file that is missing, a folder, empty, binary, of several lines or set beside its variable', () => {
    mkdirSync(join(folder, 'some'));
    const wrong: [string, RegExp][] = [
      [join(folder, 'none'), /^METRICS_TOKEN_FILE is '.*none', which cannot be read: ENOENT/],
      [join(folder, 'some'), /^METRICS_TOKEN_FILE is '.*some', which cannot be read: EISDIR/],
      [write('empty', '\n'), /which does not hold one line of text/],
      [write('lines', 'one\ntwo'), /which does not hold one line of text/],
      [write('binary', Buffer.from([1, 0, 2])), /which does not hold one line of text/],
      [write('large', 'x'.repeat(65_537)), /which does not hold one line of text/],
    ];
    for (const [file, message] of wrong) expect(failure({ METRICS_TOKEN_FILE: file })).to.match(message);
    expect(failure({ METRICS_TOKEN: 'one', METRICS_TOKEN_FILE: write('token', 'two') })).to.equal(
      'METRICS_TOKEN and METRICS_TOKEN_FILE are both set; use one of them.',
    );
  });

  it('shows each variable with the source of its value, and no secret', () => {
    write('.env', 'PORT=4000\nROLE=web\nDATABASE_URL=postgres://user:pass%40word@db:5432/site?password=more\n');
    const shown = describeEnvironment(
      {
        PORT: '4000',
        ROLE: 'worker',
        DATABASE_URL: 'postgres://user:pass%40word@db:5432/site?password=more',
        SECRET_KEY: 'a key of sixteen characters',
        METRICS_TOKEN_FILE: '/run/secrets/token',
        HOST: ' ',
        https_proxy: 'http://user:secret@proxy.example:3128',
        NO_PROXY: '.inside.example',
      },
      folder,
    );
    expect(shown.filter(({ value }) => value !== null)).to.deep.equal([
      { name: 'PORT', value: '4000', source: '.env' },
      { name: 'DATABASE_URL', value: 'postgres://db:5432/site', source: '.env' },
      { name: 'SECRET_KEY', value: '[set]', source: 'environment' },
      { name: 'ROLE', value: 'worker', source: 'environment' },
      { name: 'METRICS_TOKEN', value: '[set]', source: '/run/secrets/token' },
      { name: 'HTTPS_PROXY', value: 'http://proxy.example:3128/', source: 'environment' },
      { name: 'NO_PROXY', value: '.inside.example', source: 'environment' },
    ]);
    expect(shown.map(({ name }) => name)).to.deep.equal([...variables]);
  });

  it('finds misspelled names and leaves the names of other programs alone', async () => {
    const others = {
      HOME: '/',
      HOSTNAME: 'web',
      PATH: '/bin',
      SITE: 'x',
      NODE_ENV: 'production',
      PORTS: '1',
      SHELL: 'sh',
      https_proxy: 'http://proxy:3128',
      no_proxy: 'localhost',
    };
    expect(await findMisspelled({ ...others, DATABASE_URL: 'x', SECRET_KEY_FILE: 'x', TRUST_PROXI: '' })).to.deep.equal(
      [],
    );
    const wrong = {
      DATABSE_URL: 'x',
      SITEURL: 'x',
      SVC_PORT: '1',
      trust_proxy: '1',
      DATA_DIRS: 'x',
      SECRET_KEY_FIL: 'x',
    };
    expect(describeMisspelled(await findMisspelled({ ...others, ...wrong }))).to.deep.equal([
      'DATABSE_URL is not a variable of this host; DATABASE_URL is.',
      'SITEURL is not a variable of this host; SITE_URL is.',
      'SVC_PORT is not a variable of this host; PORT is.',
      'trust_proxy is not a variable of this host; TRUST_PROXY is.',
      'DATA_DIRS is not a variable of this host; DATA_DIR is.',
      'SECRET_KEY_FIL is not a variable of this host; SECRET_KEY_FILE is.',
    ]);
  });

  it('is read from .env by every command, after what is set already', () => {
    write('.env', `DATA_DIR=${join(folder, 'site')}\nPLUGINS=off\nSITE_URL=https://shop.example\nROLE=web\n`);
    const { stdout, stderr } = spawnSync(process.execPath, [cli, 'config', '--json'], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ROLE: 'worker', DATABSE_URL: 'postgres://db' },
    });
    expect(stderr).to.equal('');
    expect((JSON.parse(stdout) as { value: unknown }[]).filter(({ value }) => value !== null)).to.deep.equal([
      { name: 'SITE_URL', value: 'https://shop.example', source: '.env' },
      { name: 'DATA_DIR', value: join(folder, 'site'), source: '.env' },
      { name: 'PLUGINS', value: 'off', source: '.env' },
      { name: 'ROLE', value: 'worker', source: 'environment' },
    ]);
    expect(stdout).to.include('unknown; DATABASE_URL is meant').and.not.include('postgres://db');
  });
});
