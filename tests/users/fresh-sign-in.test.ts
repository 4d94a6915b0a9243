import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { openSite, type Answer, type Call, type RoutesSite } from './routes-site.ts';

const password = 'correct horse battery';

describeDialects('changing how one signs in, over REST', (_open, dialectCase) => {
  let site: RoutesSite;
  let anna: User;
  let inSession: Call;
  const outcome = ({ status, body }: Answer): unknown[] => [status, body.code ?? 'done'];
  /** The three changes, each with further parameters. */
  const changes = async (call: Call, more: Record<string, unknown> = {}): Promise<unknown[]> => {
    const post = async (path: string, json: Record<string, unknown>): Promise<unknown> =>
      outcome(await call(`/wp/v2/users/me${path}`, { method: 'POST', json: { ...json, ...more } }));
    return [
      await post('/application-passwords', { name: 'script' }),
      await post('', { email: 'other@example.com' }),
      await post('', { password: 'an entirely new one' }),
    ];
  };

  beforeEach(async () => {
    site = await openSite(dialectCase);
    anna = await site.create({ login: 'anna' });
    inSession = await site.signedIn(anna);
  });
  afterEach(() => site.host.stop());

  it('needs no password within ten minutes of the sign-in', async () => {
    expect(await changes(inSession)).to.deep.equal([
      [201, 'done'],
      [200, 'done'],
      [200, 'done'],
    ]);
  });

  it('needs the current password later, and remembers it', async () => {
    await site.host.clock.advance(10 * 60_000);
    expect(await changes(inSession)).to.deep.equal(Array(3).fill([403, 'fresh_sign_in_required']));
    expect(await changes(inSession, { current_password: 'wrong' })).to.deep.equal(
      Array(3).fill([403, 'incorrect_current_password']),
    );
    expect((await site.host.users.get(anna.id))!.email).to.equal('anna@example.com');
    const first = await inSession('/wp/v2/users/me', {
      method: 'POST',
      json: { email: 'other@example.com', current_password: password },
    });
    expect([first.status, first.body.email]).to.deep.equal([200, 'other@example.com']);
    expect((await changes(inSession))[0]).to.deep.equal([201, 'done']);
  });

  it('is closed to application passwords, with the current password too', async () => {
    const asProgram = await site.as(anna);
    const refused = Array(3).fill([403, 'application_password_not_allowed']);
    expect(await changes(asProgram)).to.deep.equal(refused);
    expect(await changes(asProgram, { current_password: password })).to.deep.equal(refused);
  });

  it('is closed to the application passwords of administrators who change others', async () => {
    const asProgram = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
    for (const json of [{ email: 'x@example.com' }, { password: 'an entirely new one' }])
      expect(outcome(await asProgram(`/wp/v2/users/${anna.id}`, { method: 'PUT', json }))).to.deep.equal([
        403,
        'application_password_not_allowed',
      ]);
    expect(await site.host.users.verify('anna', password)).not.to.equal(null);
  });

  it('leaves the rest of the profile to application passwords', async () => {
    const changed = await (
      await site.as(anna)
    )('/wp/v2/users/me', { method: 'POST', json: { name: 'Anna A', email: 'ANNA@example.com' } });
    expect([changed.status, changed.body.name]).to.deep.equal([200, 'Anna A']);
  });
});
