import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createRedactor } from '../../host/log/redactor.ts';
import { createSecrets } from '../../host/secrets/secrets.ts';

describe('secrets', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'secrets-'));
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  const make = (secretKey: string | null = null, directory = dataDir) =>
    createSecrets({ secretKey, dataDir: directory, redactor: createRedactor() });

  it('gives back what it encrypted, in a different form each time', () => {
    const secrets = make();
    for (const plain of ['', 'sk-123', 'ключ 🔑', 'x'.repeat(10_000)]) {
      const [one, two] = [secrets.encrypt(plain), secrets.encrypt(plain)];
      expect(one).to.match(/^enc:v1:[\w-]+$/);
      expect(one).not.to.equal(two);
      expect(secrets.decrypt(one)).to.equal(plain);
    }
  });

  it('works with SECRET_KEY on nodes that share no folder, and makes no key file', async () => {
    const encrypted = make('a shared passphrase').encrypt('sk-123');
    expect(make('a shared passphrase', '/nonexistent').decrypt(encrypted)).to.equal('sk-123');
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it('makes the key file once, readable by its owner alone, and uses it again', async () => {
    const encrypted = make().encrypt('sk-123');
    expect(make().decrypt(encrypted)).to.equal('sk-123');
    expect(await readdir(dataDir)).to.deep.equal(['secret.key']);
    expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).to.equal(0o600);
    expect(await readFile(join(dataDir, 'secret.key'), 'utf8')).to.match(/^[0-9a-f]{64}\n$/);
  });

  it('agrees on one key file when several processes start at once', async () => {
    const module = new URL('../../host/secrets/secrets.ts', import.meta.url).pathname;
    const program = `import { createSecrets } from ${JSON.stringify(module)};
      console.log(createSecrets({ secretKey: null, dataDir: ${JSON.stringify(join(dataDir, 'new'))}, redactor: { add() {} } }).encrypt('sk-123'));`;
    const run = promisify(execFile);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', program])),
    );
    const secrets = make(null, join(dataDir, 'new'));
    for (const { stdout } of answers) expect(secrets.decrypt(stdout.trim())).to.equal('sk-123');
    expect(await readdir(join(dataDir, 'new'))).to.deep.equal(['secret.key']);
  });

  it('says what to do when the key has changed', () => {
    const encrypted = make('the former passphrase').encrypt('sk-123');
    expect(() => make('the present passphrase').decrypt(encrypted)).to.throw(
      /another key\. Restore the previous SECRET_KEY .* or enter the secret again/,
    );
  });

  it('reads with the content of a key file in SECRET_KEY what the key file encrypted', async () => {
    const [encrypted, bound] = [make().encrypt('sk-123'), make().encrypt('sk-456', 'here')];
    const moved = make(await readFile(join(dataDir, 'secret.key'), 'utf8'), '/nonexistent');
    expect([moved.decrypt(encrypted), moved.decrypt(bound, 'here')]).to.deep.equal(['sk-123', 'sk-456']);
    expect(moved.decrypt(moved.encrypt('new'))).to.equal('new');
  });

  it('binds a text to its context: it is worthless anywhere else, and cannot pass as one without', () => {
    const secrets = make();
    const bound = secrets.encrypt('sk-123', 'svc_provider_openai api_key https://api.openai.com');
    expect(bound).to.match(/^enc:v2:[\w-]+$/);
    expect(secrets.decrypt(bound, 'svc_provider_openai api_key https://api.openai.com')).to.equal('sk-123');
    for (const context of ['svc_provider_openai api_key https://evil.example', 'svc_api_key', '', undefined])
      expect(() => secrets.decrypt(bound, context)).to.throw(/saved for another setting or another address/);
    expect(() => secrets.decrypt(bound.replace('v2', 'v1'))).to.throw(/damaged/);
    const bytes = Buffer.from(bound.slice(7), 'base64url');
    const elsewhere = Buffer.from(secrets.encrypt('other', 'svc_api_key').slice(7), 'base64url');
    elsewhere.copy(bytes, 4, 4, 8);
    expect(() => secrets.decrypt(`enc:v2:${bytes.toString('base64url')}`, 'svc_api_key')).to.throw(/damaged/);
  });

  it('still reads texts without a context, wherever they are', () => {
    const secrets = make();
    expect(secrets.decrypt(secrets.encrypt('sk-123'), 'svc_api_key')).to.equal('sk-123');
  });

  it('refuses a text that was tampered with, cut, or never encrypted', () => {
    const secrets = make();
    const encrypted = secrets.encrypt('sk-123');
    const bytes = Buffer.from(encrypted.slice(7), 'base64url');
    bytes[bytes.length - 1]! ^= 1;
    expect(() => secrets.decrypt(`enc:v1:${bytes.toString('base64url')}`)).to.throw(/damaged.*Enter it again/);
    expect(() => secrets.decrypt(encrypted.slice(0, 20))).to.throw(/damaged/);
    expect(() => secrets.decrypt('sk-123')).to.throw(/not an encrypted secret/);
  });

  it('says what to do when the key file is damaged', async () => {
    await writeFile(join(dataDir, 'secret.key'), 'half');
    expect(() => make().encrypt('x')).to.throw(/secret\.key in DATA_DIR is damaged.*backup/);
  });

  it('hides every plain text from the log from then on', () => {
    const redactor = createRedactor();
    const first = createSecrets({ secretKey: null, dataDir, redactor });
    const encrypted = first.encrypt('sk-abcdef');
    expect(redactor.redact('has sk-abcdef')).to.equal('has [redacted]');
    const second = createRedactor();
    createSecrets({ secretKey: null, dataDir, redactor: second }).decrypt(encrypted);
    expect(second.redact('has sk-abcdef')).to.equal('has [redacted]');
  });

  it('derives a key for each purpose, stable over starts', () => {
    expect(make().deriveKey('nonces')).to.deep.equal(make().deriveKey('nonces'));
    expect(make().deriveKey('nonces')).not.to.deep.equal(make().deriveKey('setup'));
    expect(make().deriveKey('nonces')).to.have.length(32);
  });
});
