import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { createSignedIds, isUuid } from '../../../../plugins/svc/modules/chatbots/widget/signed-id.ts';
import {
  createSessionTokens,
  tokenLife,
  type TokenBinding,
} from '../../../../plugins/svc/kit/visitors/session-token.ts';
import type { Signer } from '../../../../plugins/svc/kit/visitors/signer.ts';

const signerOf = (key: string): Signer => {
  const sign: Signer['sign'] = (purpose, parts) =>
    Promise.resolve(
      createHmac('sha256', key)
        .update(JSON.stringify([purpose, ...parts]))
        .digest(),
    );
  return {
    sign,
    isSigned: async (mac, purpose, parts) =>
      mac.length >= 8 && (await sign(purpose, parts)).subarray(0, mac.length).equals(mac),
  };
};
const binding: TokenBinding = {
  audience: 7,
  userId: 0,
  carrier: 'body',
  origin: 'https://shop.test:443',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/131.0',
};

describe('session tokens', () => {
  let now = Date.UTC(2026, 10, 20);
  const tokens = createSessionTokens({ signer: signerOf('key'), clock: { now: () => now } });

  it('return the session for their binding, until they expire', async () => {
    const session = tokens.begin();
    const token = await tokens.issue(session, binding);
    expect((await tokens.read(token, binding))?.id).to.equal(session.id);
    expect(
      (await tokens.read(token, { ...binding, userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0.1' }))?.id,
    ).to.equal(session.id);
    now += tokenLife - 1;
    expect(await tokens.read(token, binding)).not.to.equal(null);
    now += 1;
    expect(await tokens.read(token, binding)).to.equal(null);
  });

  it('are invalid with another binding', async () => {
    const token = await tokens.issue(tokens.begin(), binding);
    const changes: readonly Partial<TokenBinding>[] = [
      { audience: 8 },
      { userId: 1 },
      { carrier: 'cookie' },
      { origin: 'https://shop.test:444' },
      { origin: '' },
      { userAgent: 'curl/8' },
    ];
    for (const change of changes)
      expect(await tokens.read(token, { ...binding, ...change }), JSON.stringify(change)).to.equal(null);
    for (let at = 0; at < token.length; at += 1) {
      for (const character of ['A', 'B', '_']) {
        const tampered = token.slice(0, at) + character + token.slice(at + 1);
        if (tampered !== token) expect(await tokens.read(tampered, binding), String(at)).to.equal(null);
      }
    }
    for (const bad of ['', 'x', `${token}A`, token.slice(1), `${token}=`, ` ${token}`])
      expect(await tokens.read(bad, binding), bad).to.equal(null);
    expect(
      await createSessionTokens({ signer: signerOf('other'), clock: { now: () => now } }).read(token, binding),
    ).to.equal(null);
  });

  it('are renewed after a day', async () => {
    const session = await tokens.read(await tokens.issue(tokens.begin(), binding), binding);
    if (session === null) throw new Error('No session.');
    expect(tokens.isAging(session)).to.equal(false);
    now += 24 * 3600_000;
    expect(tokens.isAging(session)).to.equal(true);
  });
});

describe('signed ids', () => {
  const ids = createSignedIds(signerOf('key'));

  it('are UUIDs, the same for the same seed, that verify their scope', async () => {
    const id = await ids.create(['conversation', 7, 's1'], ['m1']);
    expect(id).to.match(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(await ids.create(['conversation', 7, 's1'], ['m1'])).to.equal(id);
    expect(await ids.create(['conversation', 7, 's1'], ['m2'])).not.to.equal(id);
    expect(await ids.verify(id, ['conversation', 7, 's1'])).to.equal(true);
    expect(await ids.verify(id, ['conversation', 7, 's2'])).to.equal(false);
    expect(
      await ids.verify(
        id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
        ['conversation', 7, 's1'],
      ),
    ).to.equal(false);
    expect(await ids.verify('nonsense', ['conversation', 7, 's1'])).to.equal(false);
    expect(isUuid(id)).to.equal(true);
  });
});
