import { expect } from 'chai';
import { keysTable } from '../../plugins/svc/modules/keys/key-tables.ts';
import { describeHosts, sharedSite } from '../helpers/dialects.ts';
import { goodRequest, startService, type Service } from './service.ts';

describeHosts('named keys on two nodes', ({ location }) => {
  // Inside, so that the nodes have stopped when their database is removed.
  describe('over HTTP', () => {
    let first: Service;
    let second: Service;

    beforeEach(async function () {
      this.timeout(60_000);
      const site = sharedSite(location());
      first = await startService(site);
      second = await startService({ ...site, clock: first.clock, upstream: first.upstream });
    });
    afterEach(async () => {
      await second.stop();
      await first.stop();
    });

    async function run(...argv: string[]): Promise<{ readonly id: number; readonly key: string }> {
      const { code, out, err } = await first.host.cli('svc', 'key', ...argv, '--json');
      expect(code, err).to.equal(0);
      return JSON.parse(out) as { id: number; key: string };
    }

    /** What each node answers to a request with the key: a status, with the code of a refusal. */
    async function answers(key: string): Promise<unknown[]> {
      const found = [];
      for (const node of [second, first]) {
        const { status, body } = await node.generate(goodRequest, { authorization: `Bearer ${key}` });
        found.push(status === 200 ? status : [status, (body as { readonly code: string }).code]);
      }
      return found;
    }

    it('are refused on the other node with the first request after a revocation', async () => {
      const { id, key } = await run('create', '--name=Shop', '--routes=generate');
      expect(await answers(key)).to.deep.equal([200, 200]);
      await run('revoke', String(id));
      const refused = [401, 'rest_svc_key_revoked'];
      // Nothing waits and no timer runs in between: no node remembers a key.
      expect(await answers(key)).to.deep.equal([refused, refused]);
    });

    it('are refused on both nodes from the millisecond on which they expire', async () => {
      const { id, key } = await run('create', '--name=Shop', '--routes=generate', '--expires=2026-01-05');
      const row = (await first.host.database.knex(keysTable).where({ id }).first()) as { readonly expires_at: unknown };
      const expiresAt = Number(row.expires_at);
      expect(expiresAt).to.equal(Date.UTC(2026, 0, 6));
      first.clock.jump(expiresAt - 60_000 - first.clock.now());
      expect(await answers(key)).to.deep.equal([200, 200]);
      expect(first.clock.now()).to.be.below(expiresAt);
      first.clock.jump(expiresAt - first.clock.now());
      const refused = [401, 'rest_svc_key_expired'];
      expect(await answers(key)).to.deep.equal([refused, refused]);
    });
  });
});
