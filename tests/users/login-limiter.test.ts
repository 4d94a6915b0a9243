import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, openNode, rejection } from './helper.ts';

const minute = 60_000;

describeDialects('guessing the password of one account', (open) => {
  /** Two nodes of one site with their own view of the same clock, and a sign-in on one of them. */
  async function openSite() {
    const clock = createFakeClock();
    const init = { clock, siteUrl: 'https://site.example' };
    const nodes = [await openNode(open, init), await openNode(open, init)] as const;
    const user = await nodes[0].users.create(ada);
    const throttled: unknown[] = [];
    for (const { hooks } of nodes)
      hooks.addAction('login_throttled', (who, details) => void throttled.push([who.id, details]));
    let turn = 0;
    const signIn = (ip: string, password = 'wrong password', login: string = ada.login) =>
      nodes[turn++ % 2]!.authentication.login({ login, password, remember: true, ip, userAgent: '' });
    /** Outcome of a sign-in: in, wrong, or the seconds to wait. */
    const outcome = async (...given: Parameters<typeof signIn>): Promise<string | number> => {
      try {
        return (await signIn(...given)) === null ? 'wrong' : 'in';
      } catch (error) {
        return Number((error as { headers: Record<string, string> }).headers['Retry-After']);
      }
    };
    return { clock, nodes, user, throttled, signIn, outcome };
  }
  const address = (n: number): string => `198.51.${Math.floor(n / 200)}.${(n % 200) + 1}`;

  it('slows down over all addresses and nodes, and doubles the delay up to 15 minutes', async () => {
    const { clock, outcome } = await openSite();
    const outcomes: (string | number)[] = [];
    for (let n = 0; n < 110; n += 1) outcomes.push(await outcome(address(n)));
    expect(outcomes.filter((one) => one === 'wrong')).to.have.length(10);
    expect(new Set(outcomes.slice(10))).to.deep.equal(new Set([30]));
    const waits: (string | number)[] = [];
    for (let round = 0; round < 7; round += 1) {
      const wait = Number(await outcome(address(200 + round)));
      waits.push(wait);
      clock.jump(wait * 1000);
      expect(await outcome(address(300 + round))).to.equal('wrong');
    }
    expect(waits).to.deep.equal([30, 60, 120, 240, 480, 900, 900]);
  });

  it('counts user name and email address as one account', async () => {
    const { outcome } = await openSite();
    const outcomes = [];
    for (let n = 0; n < 16; n += 1)
      outcomes.push(await outcome('203.0.113.9', 'wrong password', n % 2 === 0 ? 'ada' : 'ADA@example.com'));
    expect(outcomes.filter((one) => one === 'wrong')).to.have.length(10);
  });

  it('never locks the user out of a network from which they signed in before', async () => {
    const { clock, outcome, signIn } = await openSite();
    await signIn('203.0.113.9', ada.password);
    clock.jump(29 * 24 * 60 * minute);
    for (let n = 0; n < 30; n += 1) await outcome(address(n));
    expect(await outcome('203.0.113.9', ada.password)).to.equal('in');
    // That sign-in gave the others no new tries.
    expect(await outcome(address(50))).to.equal(30);
    expect(await outcome(address(51), ada.password)).to.equal(30);
  });

  it('lets the right password in after the delay, and starts again', async () => {
    const { clock, outcome } = await openSite();
    for (let n = 0; n < 11; n += 1) await outcome(address(n));
    clock.jump(30_000);
    expect(await outcome(address(20), ada.password)).to.equal('in');
    for (let n = 0; n < 10; n += 1) expect(await outcome(address(30 + n))).to.equal('wrong');
  });

  it('lets one of many parallel tries pass after a delay', async () => {
    const { clock, nodes, user } = await openSite();
    const spend = (n: number): Promise<unknown> => nodes[n % 2]!.limiter.spend({ account: user.id, ip: address(n) });
    const first = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => spend(n)));
    expect(first.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
    clock.jump(30_000);
    const second = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => spend(100 + n)));
    expect(second.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
  });

  it('tells of it once, and answers the same for unknown names', async () => {
    const { outcome, throttled, user } = await openSite();
    for (let n = 0; n < 12; n += 1) await outcome(address(n));
    expect(throttled).to.deep.equal([[user.id, { ip: address(9), failures: 10 }]]);
    const unknown = [];
    for (let n = 0; n < 12; n += 1) unknown.push(await outcome(address(n), 'wrong password', 'nobody'));
    expect(unknown).to.deep.equal([...Array<string>(10).fill('wrong'), 30, 30]);
    expect(throttled).to.have.length(1);
  });

  it('limits application passwords in the same way, but never a right one', async () => {
    const { nodes, user, outcome } = await openSite();
    const { password } = await nodes[0].applicationPasswords.create(user.id, 'script');
    const call = (given: string, ip: string) =>
      nodes[1].authentication.currentUser({
        headers: { authorization: `Basic ${Buffer.from(`ada:${given}`).toString('base64')}` },
        ip,
      });
    const codes = [];
    for (let n = 0; n < 12; n += 1) codes.push((await rejection(call('wrong', '203.0.113.9'))).code);
    expect(codes).to.deep.equal([
      ...Array<string>(10).fill('incorrect_password'),
      ...Array<string>(2).fill('too_many_login_attempts'),
    ]);
    expect((await call(password, '203.0.113.9')).id).to.equal(user.id);
    expect(await outcome('203.0.113.9', ada.password)).to.equal('in');
  });

  it('limits wrong keys by address, on all nodes', async () => {
    const { nodes, clock } = await openSite();
    for (let n = 0; n < 100; n += 1) await nodes[n % 2]!.limiter.countWrongKey('203.0.113.9');
    for (const { limiter } of nodes)
      expect((await rejection(limiter.countWrongKey('203.0.113.9'))).headers).to.deep.equal({ 'Retry-After': '900' });
    await nodes[0].limiter.countWrongKey('203.0.113.10');
    clock.jump(15 * minute);
    await nodes[0].limiter.countWrongKey('203.0.113.9');
  });
});
