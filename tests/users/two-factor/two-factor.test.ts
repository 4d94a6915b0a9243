import { expect } from 'chai';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { describeDialects, type OpenDatabase } from '../../helpers/dialects.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { ada, bob, openNode, rejection } from '../helper.ts';
import { createSoftwareAuthenticator } from './software-authenticator.ts';
import { totpCode } from './totp-code.ts';

const step = 30_000;
const origin = 'https://site.example';

async function openUser(open: OpenDatabase, siteUrl = origin) {
  const clock = createFakeClock();
  const node = await openNode(open, { clock, siteUrl });
  const user = await node.users.create(ada);
  const seen: unknown[][] = [];
  for (const name of [
    'two_factor_enabled',
    'two_factor_disabled',
    'passkey_added',
    'passkey_removed',
    'recovery_codes_generated',
    'recovery_code_used',
  ] as const)
    node.hooks.addAction(name, (...args: unknown[]) => seen.push([name, ...args]));
  return { ...node, clock, user, seen };
}

describeDialects('an authenticator app', (open) => {
  async function withApp() {
    const node = await openUser(open);
    const setup = await node.twoFactor.beginTotp(node.user);
    const codes = await node.twoFactor.confirmTotp(node.user.id, totpCode(setup!.secret, node.clock.now()));
    node.clock.jump(step);
    return { ...node, secret: setup!.secret, codes: codes! };
  }

  it('is on once its first code is entered, and its secret is never shown again', async () => {
    const { twoFactor, user, clock, seen } = await openUser(open);
    const setup = await twoFactor.beginTotp(user);
    expect(setup?.uri).to.match(
      /^otpauth:\/\/totp\/Tea%20shop:Ada\?issuer=Tea%20shop&secret=[A-Z2-7]{32}&algorithm=SHA1&digits=6&period=30$/,
    );
    expect((await twoFactor.beginTotp(user))?.secret, 'reloaded').to.equal(setup?.secret);
    expect(await twoFactor.confirmTotp(user.id, '000000')).to.equal(null);
    expect(await twoFactor.isEnabled(user.id)).to.equal(false);
    const codes = await twoFactor.confirmTotp(user.id, totpCode(setup!.secret, clock.now()));
    expect(codes).to.have.length(10);
    expect(await twoFactor.isEnabled(user.id)).to.equal(true);
    expect(await twoFactor.beginTotp(user)).to.equal(null);
    expect(seen).to.deep.equal([
      ['two_factor_enabled', user.id, 'totp'],
      ['recovery_codes_generated', user.id],
    ]);
  });

  it('leaves neither its secret nor a recovery code readable in the database', async () => {
    const { database, secret, codes } = await withApp();
    const stored = JSON.stringify([await database.knex('totp_secrets'), await database.knex('recovery_codes')]);
    expect(stored).to.contain('enc:v2:');
    for (const plain of [secret, ...codes, ...codes.map((code) => code.replace('-', ''))])
      expect(stored).not.to.contain(plain);
  });

  it('has a secret that works for its own user only, also one of an earlier version once it is used', async () => {
    const { database, twoFactor, user, clock, secret, users, secrets } = await withApp();
    const other = await users.create(bob);
    const rows = database.knex('totp_secrets');
    const [row] = (await rows.clone()) as Record<string, unknown>[];
    const move = async (to: string): Promise<void> => {
      await rows.clone().where({ user_id: other.id }).delete();
      await rows.clone().insert({ ...row, user_id: other.id, secret: to });
    };
    await move(String(row?.['secret']));
    expect((await rejection(twoFactor.useCode(other.id, totpCode(secret, clock.now())))).message).to.contain(
      'saved for another setting',
    );
    await rows
      .clone()
      .where({ user_id: user.id })
      .update({ secret: secrets.encrypt(secret) });
    expect(await twoFactor.useCode(user.id, totpCode(secret, clock.now()))).to.equal('totp');
    const { secret: rebound } = (await rows.clone().where({ user_id: user.id }).first()) as { secret: string };
    expect(rebound).to.match(/^enc:v2:/);
    clock.jump(step);
    expect(await twoFactor.useCode(user.id, totpCode(secret, clock.now()))).to.equal('totp');
  });

  for (const [distance, isRight] of [
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ] as const)
    it(`${isRight ? 'accepts' : 'refuses'} a code that is ${distance} steps away`, async () => {
      const { twoFactor, user, clock, secret } = await withApp();
      clock.jump(10 * step);
      const code = totpCode(secret, clock.now() + distance * step);
      expect(await twoFactor.useCode(user.id, code)).to.equal(isRight ? 'totp' : null);
    });

  it('accepts each code once, on one of several nodes, and none before the last one used', async () => {
    const { twoFactor, user, clock, secret } = await withApp();
    clock.jump(10 * step);
    const other = await openNode(open, { clock, siteUrl: origin });
    const now = totpCode(secret, clock.now());
    const outcomes = await Promise.all(
      [twoFactor, other.twoFactor, twoFactor].map((node) => node.useCode(user.id, now)),
    );
    expect(outcomes.filter((outcome) => outcome === 'totp')).to.have.length(1);
    expect(await twoFactor.useCode(user.id, totpCode(secret, clock.now() - step))).to.equal(null);
    expect(await twoFactor.useCode(user.id, totpCode(secret, clock.now() + step))).to.equal('totp');
  });

  it('refuses the code that turned it on, a code of another user, and anything that is not six digits', async () => {
    const { twoFactor, users, user, clock, secret } = await withApp();
    const other = await users.create(bob);
    const foreign = (await twoFactor.beginTotp(other))!.secret;
    await twoFactor.confirmTotp(other.id, totpCode(foreign, clock.now()));
    for (const code of [
      totpCode(secret, clock.now() - step),
      totpCode(foreign, clock.now() + step),
      '',
      '12345',
      '1234567',
      'abcdef',
      '１２３４５６',
    ])
      expect(await twoFactor.useCode(user.id, code), code).to.equal(null);
    const code = totpCode(secret, clock.now());
    expect(await twoFactor.useCode(user.id, `${code.slice(0, 3)} ${code.slice(3)}`)).to.equal('totp');
  });

  it('does not count before it is confirmed', async () => {
    const { twoFactor, user, clock } = await openUser(open);
    const { secret } = (await twoFactor.beginTotp(user))!;
    expect(await twoFactor.useCode(user.id, totpCode(secret, clock.now()))).to.equal(null);
  });

  it('takes each recovery code once, in any spelling, and none of a previous set', async () => {
    const { twoFactor, user, codes, seen } = await withApp();
    const [first = '', second = '', third = ''] = codes;
    expect(codes.every((code) => /^[a-z2-9]{5}-[a-z2-9]{5}$/.test(code))).to.equal(true);
    const outcomes = await Promise.all([1, 2, 3].map(() => twoFactor.useCode(user.id, first)));
    expect(outcomes.filter((outcome) => outcome === 'recovery_code')).to.have.length(1);
    expect(await twoFactor.useCode(user.id, ` ${second.toUpperCase().replace('-', ' ')} `)).to.equal('recovery_code');
    expect((await twoFactor.status(user)).recoveryCodes).to.equal(8);
    expect(seen.slice(-2)).to.deep.equal([
      ['recovery_code_used', user.id, 9],
      ['recovery_code_used', user.id, 8],
    ]);
    const fresh = await twoFactor.generateRecoveryCodes(user.id);
    expect(await twoFactor.useCode(user.id, third)).to.equal(null);
    expect(await twoFactor.useCode(user.id, fresh[0]!)).to.equal('recovery_code');
  });

  it('leaves the recovery codes as they were when new ones cannot be stored', async () => {
    const { database, twoFactor, user, codes } = await withApp();
    const refuse =
      database.dialect === 'sqlite'
        ? "CREATE TRIGGER refuse BEFORE INSERT ON recovery_codes BEGIN SELECT RAISE(ABORT, 'The disk is full'); END"
        : 'ALTER TABLE recovery_codes ADD CONSTRAINT refuse CHECK (user_id < 0) NOT VALID';
    await database.knex.raw(refuse);
    expect(await failureOf(twoFactor.generateRecoveryCodes(user.id))).to.be.an('error');
    expect(await twoFactor.useCode(user.id, codes[0]!)).to.equal('recovery_code');
  });

  it('takes its recovery codes along when it is turned off, and starts again with another secret', async () => {
    const { twoFactor, user, codes, secret, seen } = await withApp();
    expect(await twoFactor.disableTotp(user.id)).to.equal(true);
    expect(await twoFactor.disableTotp(user.id)).to.equal(false);
    expect(await twoFactor.isEnabled(user.id)).to.equal(false);
    expect(await twoFactor.useCode(user.id, codes[0]!)).to.equal(null);
    expect(seen.at(-1)).to.deep.equal(['two_factor_disabled', user.id, 'totp', user.id]);
    expect((await twoFactor.beginTotp(user))?.secret).not.to.equal(secret);
  });

  it('is removed with the user', async () => {
    const { database, users, twoFactor, clock } = await withApp();
    const other = await users.create(bob);
    const { secret } = (await twoFactor.beginTotp(other))!;
    await twoFactor.confirmTotp(other.id, totpCode(secret, clock.now()));
    await users.delete(other.id);
    for (const table of ['totp_secrets', 'recovery_codes'])
      expect(await database.knex(table).where({ user_id: other.id }), table).to.deep.equal([]);
  });

  it('is reset with all passkeys, recovery codes and sessions', async () => {
    const { twoFactor, authentication, sessions, user, seen } = await withApp();
    await authentication.openSession(user, { ip: '', userAgent: '' });
    expect(await twoFactor.reset(user.id, 7)).to.equal(true);
    expect(await twoFactor.status(user)).to.deep.equal({
      totpSince: null,
      passkeys: [],
      recoveryCodes: 0,
      isRequired: false,
    });
    expect(await sessions.list(user.id)).to.deep.equal([]);
    expect(seen.at(-1)).to.deep.equal(['two_factor_disabled', user.id, 'all', 7]);
    expect(await twoFactor.reset(user.id, 7)).to.equal(false);
  });
});

describeDialects('passkeys', (open) => {
  type Options = Parameters<ReturnType<typeof createSoftwareAuthenticator>['create']>[0];
  type Node = Awaited<ReturnType<typeof openUser>>;

  async function register({ twoFactor, user }: Node, name = 'Laptop') {
    const device = createSoftwareAuthenticator(origin);
    const { options, challenge } = await twoFactor.requestPasskey(user, 'session');
    const credential = device.create(options as Options);
    const codes = await twoFactor.addPasskey(user, { session: 'session', name, credential, challenge });
    return { device, codes, options: options as Options & { excludeCredentials: unknown[] } };
  }

  it('are added with a name and recovery codes, and the same one is not added twice', async () => {
    const node = await openUser(open);
    const { device, codes } = await register(node);
    expect(codes).to.have.length(10);
    const { passkeys } = await node.twoFactor.status(node.user);
    expect(passkeys.map(({ id, name, transports, lastUsedAt }) => [id, name, transports, lastUsedAt])).to.deep.equal([
      [device.id, 'Laptop', ['internal'], null],
    ]);
    const second = await register(node, 'Phone');
    expect(second.codes).to.deep.equal([]);
    expect(second.options.excludeCredentials).to.have.length(1);
    expect(node.seen.map(([name]) => name)).to.deep.equal([
      'passkey_added',
      'recovery_codes_generated',
      'passkey_added',
    ]);
    const { options, challenge } = await node.twoFactor.requestPasskey(node.user, 'session');
    const error = await rejection(
      node.twoFactor.addPasskey(node.user, {
        session: 'session',
        name: 'Again',
        credential: device.create(options as Options),
        challenge,
      }),
    );
    expect(error.code).to.equal('passkey_exists');
  });

  it('are refused for another site, session or challenge, without verification of the user, late, or twice', async () => {
    const node = await openUser(open);
    const { twoFactor, user, clock } = node;
    const device = createSoftwareAuthenticator(origin);
    const { options, challenge } = await twoFactor.requestPasskey(user, 'session');
    const given = options as Options;
    const init = { session: 'session', name: 'Laptop', credential: device.create(given), challenge };
    const wrong = [
      { ...init, session: 'another' },
      { ...init, challenge: '' },
      { ...init, credential: device.create(given, { origin: 'https://evil.example' }) },
      { ...init, credential: device.create(given, { challenge: 'AAAA' }) },
      { ...init, credential: device.create({ ...given, rp: { id: 'evil.example' } }) },
      { ...init, credential: device.create(given, { verified: false }) },
      { ...init, credential: '{}' },
      { ...init, credential: 'nonsense' },
      { ...init, credential: `${' '.repeat(30_000)}{}` },
    ];
    for (const attempt of wrong)
      expect(await rejection(twoFactor.addPasskey(user, attempt))).to.include({
        code: 'passkey_not_verified',
        status: 400,
      });
    expect(await twoFactor.isEnabled(user.id)).to.equal(false);
    clock.jump(5 * 60_000);
    expect((await rejection(twoFactor.addPasskey(user, init))).code, 'late').to.equal('passkey_not_verified');
    clock.jump(-5 * 60_000);
    await twoFactor.addPasskey(user, init);
    await twoFactor.removePasskey(user.id, device.id);
    expect((await rejection(twoFactor.addPasskey(user, init))).code, 'twice').to.equal('passkey_not_verified');
  });

  it('sign in without a password, once per challenge, and count their uses', async () => {
    const node = await openUser(open);
    const { device } = await register(node);
    const { signIn } = node.twoFactor;
    const { options, challenge } = await signIn.requestSignIn(null);
    expect((options as { allowCredentials?: unknown[] }).allowCredentials ?? []).to.deep.equal([]);
    const credential = device.get(options as Options);
    const outcomes = await Promise.all([1, 2, 3].map(() => signIn.verifySignIn({ credential, challenge }, null)));
    expect(outcomes.filter((passkey) => passkey?.userId === node.user.id)).to.have.length(1);
    const [passkey] = (await node.twoFactor.status(node.user)).passkeys;
    expect([passkey?.counter, passkey?.lastUsedAt]).to.deep.equal([1, node.clock.now()]);
  });

  it('are not verified with another origin, challenge, key, user or counter, without verification of the user, or late', async () => {
    const node = await openUser(open);
    const { device } = await register(node);
    const { signIn } = node.twoFactor;
    const { options, challenge } = await signIn.requestSignIn(null);
    const given = options as Options;
    expect(await signIn.verifySignIn({ credential: device.get(given, { counter: 5 }), challenge }, null)).not.to.equal(
      null,
    );
    const second = await signIn.requestSignIn(null);
    const fresh = second.options as Options;
    for (const changes of [
      { origin: 'https://evil.example' },
      { challenge: given.challenge },
      { otherKey: true },
      { userHandle: 'AAAA' },
      { verified: false },
      { counter: 5 },
    ]) {
      const credential = device.get(fresh, { counter: 9, ...changes });
      const { challenge } = second;
      expect(await signIn.verifySignIn({ credential, challenge }, null), JSON.stringify(changes)).to.equal(null);
    }
    const credential = device.get(fresh, { counter: 9 });
    expect(await signIn.verifySignIn({ credential, challenge: '9999999999999.x' }, null)).to.equal(null);
    const unknown = createSoftwareAuthenticator(origin).get(fresh);
    expect(await signIn.verifySignIn({ credential: unknown, challenge: second.challenge }, null)).to.equal(null);
    node.clock.jump(5 * 60_000);
    expect(await signIn.verifySignIn({ credential, challenge: second.challenge }, null), 'late').to.equal(null);
  });

  it('are the second step of their own user only, and not for another sign-in', async () => {
    const node = await openUser(open);
    const { device } = await register(node);
    const other = await node.users.create(bob);
    const { signIn } = node.twoFactor;
    const pending = { id: 'pending', userId: node.user.id };
    const { options, challenge } = await signIn.requestSignIn(pending);
    expect((options as { allowCredentials: { id: string }[] }).allowCredentials.map(({ id }) => id)).to.deep.equal([
      device.id,
    ]);
    const credential = device.get(options as Options);
    for (const scope of [null, { ...pending, id: 'another' }, { ...pending, userId: other.id }])
      expect(await signIn.verifySignIn({ credential, challenge }, scope)).to.equal(null);
    expect((await signIn.verifySignIn({ credential, challenge }, pending))?.id).to.equal(device.id);
  });

  it('are renamed and removed by their owner only, and the last one takes the recovery codes along', async () => {
    const node = await openUser(open);
    const { device, codes } = await register(node);
    const { twoFactor, user } = node;
    const other = await node.users.create(bob);
    expect(await twoFactor.renamePasskey({ userId: other.id, id: device.id, name: 'Mine' })).to.equal(false);
    expect(await twoFactor.removePasskey(other.id, device.id)).to.equal(false);
    expect(await twoFactor.renamePasskey({ userId: user.id, id: device.id, name: ' Desk ' })).to.equal(true);
    expect((await twoFactor.status(user)).passkeys[0]?.name).to.equal('Desk');
    for (const name of ['', 'x'.repeat(101)])
      expect((await rejection(twoFactor.renamePasskey({ userId: user.id, id: device.id, name }))).message).to.equal(
        'Enter a name of 1 to 100 characters for the passkey.',
      );
    expect(await twoFactor.removePasskey(user.id, device.id)).to.equal(true);
    expect(await twoFactor.useCode(user.id, codes[0]!)).to.equal(null);
    expect(node.seen.at(-1)).to.deep.equal(['passkey_removed', user.id, device.id]);
  });

  it('are offered on https and on this machine, and elsewhere the reason is given', async () => {
    const { passkeySupport } = await import('../../../host/users/two-factor/relying-party.ts');
    for (const [url, id, allowed] of [
      ['https://shop.example.com', 'shop.example.com', 'https://shop.example.com'],
      ['https://shop.example.com:8443/', 'shop.example.com', 'https://shop.example.com:8443'],
      ['http://localhost:3000', 'localhost', 'http://localhost:3000'],
      ['http://127.0.0.1:3000', 'localhost', 'http://localhost:3000'],
      ['http://[::1]:3000', 'localhost', 'http://localhost:3000'],
    ])
      expect(passkeySupport(url!), url).to.deep.equal({ party: { id, origin: allowed }, reason: null });
    expect(passkeySupport('http://shop.example.com').reason).to.match(/^Passkeys need https, /);
    expect(passkeySupport('https://192.0.2.7').reason).to.match(/^Passkeys need a host name, /);
    const plain = await openUser(open, 'http://shop.example.com');
    expect((await rejection(plain.twoFactor.requestPasskey(plain.user, 's'))).code).to.equal('passkeys_unavailable');
  });
});
