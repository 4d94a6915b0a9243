import { expect } from 'chai';
import { createSystemClock } from '../../../../host/clock.ts';
import { createOutbound, type Outbound } from '../../../../host/http/outbound.ts';
import { createDeliver } from '../../../../plugins/svc/webhooks/delivery/deliver.ts';
import { typedInternalHost } from '../../../../plugins/svc/kit/internal-host.ts';
import type { Deliver } from '../../../../plugins/svc/webhooks/delivery/deliver.contract.ts';
import { literalHosts, names, oddAddresses } from '../../../helpers/guard-cases.ts';
import { attempt, openOutbound, openReceiver, type Receiver } from './open-receiver.ts';

/** Traps on both loopback addresses; no case may so much as connect to one. */
describe('the guard of webhook deliveries', () => {
  let traps: Receiver[];
  let outbound: Outbound;
  let deliver: Deliver;

  before(async () => {
    traps = [await openReceiver('127.0.0.1'), await openReceiver('::1')];
  });
  after(async () => {
    for (const trap of traps) await trap.close();
  });
  beforeEach(() => {
    outbound = openOutbound({ ...names, localhost: ['127.0.0.1'] });
    deliver = createDeliver({ http: outbound, clock: createSystemClock() });
  });
  afterEach(async () => {
    await outbound.close();
    for (const trap of traps) expect(trap.connections(), 'connections to a trap').to.equal(0);
  });

  const ports = (): number[] => traps.map(({ port }) => port);

  /** The address through the guard alone: an endpoint's own literal address would be a typed internal one. */
  async function refusedBy(address: string): Promise<string> {
    const thrown: unknown = await outbound.fetch(address, { method: 'POST', body: 'x', timeout: 5000 }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(thrown, address).to.be.instanceOf(Error);
    expect(thrown, address).to.have.property('code').that.is.oneOf(['outbound_refused', 'outbound_dns']);
    const { message } = thrown as Error;
    expect(message).to.match(/^(Only http|The URL|The address|The name |\S+ (resolves to|is|may))/);
    return message;
  }

  for (const host of literalHosts) {
    it(`refuses ${host}, and says why`, async () => {
      for (const port of ports()) await refusedBy(`http://${host}:${port}/`);
    });
  }

  for (const [name, addresses] of Object.entries(names)) {
    it(`refuses a name that resolves to ${addresses.join(' and ')}`, async () => {
      for (const port of ports()) {
        const outcome = await deliver(attempt(`http://${name}:${port}/`));
        expect(outcome, name).to.deep.include({ ok: false, status: null, failure: 'guard', retryable: false });
        expect(outcome.error).to.include(name);
      }
    });
  }

  for (const address of oddAddresses) {
    it(`refuses ${address || 'an empty address'}`, async () => {
      const outcome = await deliver(attempt(address.replace('{port}', String(ports()[0]))));
      expect(outcome).to.deep.include({ ok: false, status: null });
      expect(outcome.failure).to.be.oneOf(['guard', 'dns']);
    });
  }

  it('refuses a name that resolves to a private address on the second lookup', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']];
    let asked = 0;
    const rebinding = createOutbound({
      clock: createSystemClock(),
      resolve: () => Promise.resolve(answers[asked++ % 2] ?? []),
    });
    await rebinding.check(`http://rebinding.example:${ports()[0]}/`);
    const outcome = await createDeliver({ http: rebinding, clock: createSystemClock() })(
      attempt(`http://rebinding.example:${ports()[0]}/`),
    );
    await rebinding.close();
    expect(outcome).to.deep.include({ failure: 'guard' });
    expect(asked).to.equal(2);
  });

  describe('on redirects', () => {
    let first: Receiver;
    let location: string;
    let status: number;

    beforeEach(async () => {
      first = await openReceiver();
      first.answer = (_request, response) =>
        void response.writeHead(status, { location: Buffer.from(location).toString('latin1') }).end();
    });
    afterEach(() => first.close());

    const redirected = async (to: string, by = 307) => {
      [location, status] = [to, by];
      return deliver(attempt(`http://127.0.0.1:${first.port}/`));
    };

    for (const by of [301, 302, 307, 308]) {
      it(`by ${by} follows none to another port of the same machine, though the endpoint itself is a typed internal one`, async () => {
        for (const port of ports())
          for (const host of ['127.0.0.1', '[::1]', 'localhost'])
            expect(await redirected(`http://${host}:${port}/`, by)).to.deep.include({
              ok: false,
              status: by,
              failure: 'redirect',
              retryable: false,
            });
      });
    }

    it('refuses every literal and every name', async () => {
      for (const host of [...literalHosts, ...Object.keys(names)]) {
        const outcome = await redirected(`//${host}:${ports()[0]}/`);
        expect(outcome.ok, host).to.equal(false);
        expect(outcome.failure, host).to.be.oneOf(['guard', 'redirect']);
      }
    });

    it('refuses other schemes', async () => {
      for (const to of [
        'file:///etc/passwd',
        'ftp://127.0.0.1/',
        'gopher://127.0.0.1/',
        'data:,x',
        `http://user:word@127.0.0.1:${ports()[0]}/`,
      ]) {
        expect(await redirected(to), to).to.deep.include({ ok: false, failure: 'guard' });
      }
    });

    it('reaches the typed internal endpoint itself again', async () => {
      first.answer = (request, response) =>
        void (request.url === '/' ? response.writeHead(307, { location: '/next' }) : response.writeHead(200)).end();
      expect(await deliver(attempt(`http://127.0.0.1:${first.port}/`))).to.deep.include({ ok: true, status: 200 });
    });
  });

  it('never opens metadata services, also with the box for internal networks', async () => {
    for (const host of [
      '169.254.169.254',
      '[fd00:ec2::254]',
      '100.100.100.200',
      'metadata.example',
      'metadata6.example',
      'alibaba.example',
      '[::ffff:169.254.169.254]',
      '2852039166',
    ]) {
      expect(await deliver(attempt(`http://${host}/latest/meta-data/`, { allowInternal: true })), host).to.deep.include(
        { ok: false, failure: 'guard' },
      );
      expect(await deliver(attempt(`http://${host}/latest/meta-data/`)), host).to.deep.include({
        ok: false,
        failure: 'guard',
      });
    }
  });
});

describe('an internal address an administrator typed', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['http://127.0.0.1:3000/hook', '127.0.0.1:3000'],
    ['http://2130706433/', '127.0.0.1:80'],
    ['https://[::1]/', '[::1]:443'],
    ['http://localhost:8080/', 'localhost:8080'],
    ['https://192.168.1.20/', '192.168.1.20:443'],
    ['http://internal.example/', null],
    ['http://localhost.example/', null],
    ['http://127.0.0.1.example/', null],
    ['not an address', null],
  ];
  for (const [url, host] of cases) {
    it(`${url} opens ${host ?? 'nothing'}`, () => {
      expect(typedInternalHost(url)).to.equal(host);
    });
  }

  it('is reached', async () => {
    const outbound = createOutbound({ clock: createSystemClock() });
    const receiver = await openReceiver();
    const deliver = createDeliver({ http: outbound, clock: createSystemClock() });
    for (const host of ['127.0.0.1', 'localhost', '127.1']) {
      expect(await deliver(attempt(`http://${host}:${receiver.port}/`)), host).to.deep.include({
        ok: true,
        status: 204,
      });
    }
    await outbound.close();
    await receiver.close();
  });
});
