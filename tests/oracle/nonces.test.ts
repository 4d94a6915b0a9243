import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createTestHost } from '#testing';
import { createNonces } from '../../host/users/nonces.ts';
import { roleNames } from '../../host/users/roles.ts';

interface Recording {
  readonly name: string;
  readonly returns: unknown;
}

describe('recorded nonces and capabilities of WordPress', () => {
  it('return the same values', async () => {
    const recordings = JSON.parse(await readFile(new URL('options.json', import.meta.url), 'utf8')) as Recording[];
    const host = await createTestHost();
    try {
      const administrator = await host.users.create({
        login: 'ada',
        email: 'ada@example.com',
        password: 'correct horse',
        role: 'administrator',
      });
      const nonces = createNonces({
        key: () => host.secrets.deriveKey('nonces'),
        clock: host.clock,
        hooks: createHooks(),
      });
      const nonce = nonces.create('act', administrator, 'session');
      const verify = (given: string, action: string) =>
        nonces.verify({ nonce: given, action, user: administrator, sessionId: 'session' });
      const unknown = await host.users.get(999);
      expect([
        verify(nonce, 'act'),
        verify(nonce, 'other'),
        verify('', 'act'),
        nonce.length,
        administrator.can('manage_options'),
        administrator.can('nope'),
        unknown?.can('read') ?? false,
        roleNames,
      ]).to.deep.equal(recordings.find(({ name }) => name === 'nonce/caps')?.returns);
    } finally {
      await host.stop();
    }
  });
});
