import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { becomes } from '../helpers/until.ts';

describe('doctor', () => {
  it('says how to close the data folder and the key file to other users', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-doctor-'));
    const host = await createTestHost({ database: folder });
    try {
      await chmod(folder, 0o755);
      await writeFile(join(folder, 'secret.key'), 'a key', { mode: 0o644 });
      const open = await host.cli('doctor');
      expect(open.code).to.equal(1);
      expect(open.err)
        .to.include(`file modes: ${folder} is open to other users (mode 755). Run: chmod 700 '${folder}'`)
        .and.include(`secret.key is open to other users (mode 644). Run: chmod 600 '${join(folder, 'secret.key')}'`);
      await chmod(folder, 0o700);
      await chmod(join(folder, 'secret.key'), 0o600);
      expect((await host.cli('doctor')).err).not.to.include('file modes');
    } finally {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  for (const [title, env, header, isNamed] of [
    ['names a proxy that TRUST_PROXY does not', {}, 'x-forwarded-for', true],
    ['knows it by any of its headers', {}, 'forwarded', true],
    ['finds nothing wrong with one that TRUST_PROXY names', { TRUST_PROXY: '1' }, 'x-forwarded-for', false],
    ['finds none where requests come without its headers', {}, 'accept', false],
  ] as const)
    it(title, async () => {
      const host = await createTestHost({ env });
      try {
        await host.fetch('/healthz', { headers: { [header]: '203.0.113.7' } });
        await becomes(async () => (await host.cli('doctor')).err.includes('Set TRUST_PROXY to the number'), isNamed);
      } finally {
        await host.stop();
      }
    });

  it('reports in the language of the terminal, and in English to programs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-doctor-'));
    const host = await createTestHost({ database: folder, env: { LANG: 'de_DE.UTF-8' } });
    try {
      await host.users.create({
        login: 'ada',
        email: 'ada@example.com',
        password: 'long enough for all',
        role: 'administrator',
      });
      const { out, err } = await host.cli('doctor');
      expect(err).to.equal('');
      const german = out.trim().split('\n').slice(1);
      const checks = JSON.parse((await host.cli('doctor', '--json')).out) as { check: string; detail: string }[];
      expect(german).to.have.length(checks.length);
      expect(german[1]).to.match(/^Umgebung +in Ordnung +gelesen/);
      expect(german[2]).to.match(/^Datenordner +in Ordnung/);
      const isEnglish = ({ check, detail }: (typeof checks)[number], line = ''): boolean =>
        line.startsWith(`${check} `) ||
        (/[a-z]{2}/.test(detail) && !detail.includes('/') && line.endsWith(`  ${detail}`));
      expect(checks.filter((row, index) => isEnglish(row, german[index])).map(({ check }) => check)).to.deep.equal([
        // Names, and a word that German has too.
        'node',
        'proxy',
      ]);
    } finally {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
