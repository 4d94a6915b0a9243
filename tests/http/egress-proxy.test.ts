import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { findProxyInEnvironment, type FindProxy } from '../../host/http/egress-proxy.ts';
import { createOutbound, type Outbound } from '../../host/http/outbound.ts';
import type { OutboundError } from '../../host/http/outbound-errors.ts';
import { startConnectProxy, type ConnectProxy } from '../helpers/connect-proxy.ts';
import { failureOf } from '../helpers/failure-of.ts';

describe('outbound requests through a proxy', () => {
  let proxy: ConnectProxy;
  let server: Server;
  let outbound: Outbound;
  /** Where the resolver of this machine finds a name. */
  let known: Record<string, string>;
  let findProxy: FindProxy;

  before(async () => {
    server = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.end(`${String(request.method)} ${String(request.headers.host)}`));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(async () => {
    proxy = await startConnectProxy();
    proxy.names.set('shop.example:80', (server.address() as AddressInfo).port);
    known = {};
    findProxy = () => Promise.resolve(new URL(proxy.url.replace('//', '//site:p%40ss@')));
    outbound = createOutbound({
      clock: createSystemClock(),
      findProxy: (url) => findProxy(url),
      resolve: (name) => {
        const address = known[name];
        return address === undefined
          ? Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
          : Promise.resolve([address]);
      },
    });
  });
  afterEach(async () => {
    await outbound.close();
    await proxy.stop();
  });
  after(() => new Promise((resolve) => server.close(resolve)));

  const reasonOf = async (url: string, init: { readonly timeout?: number } = {}) => {
    const { code, reason } = (await failureOf(outbound.fetch(url, init))) as OutboundError;
    return [code, reason];
  };

  it('reach names that only the proxy can resolve, with its user name and password, over kept connections', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      const response = await outbound.fetch('http://shop.example/prices', { method: 'POST', body: 'x' });
      expect(response.text()).to.equal('POST shop.example');
      // A connection can be used again once the event loop has turned.
      await nextTurn();
    }
    await outbound.check('http://shop.example/prices');
    const authorization = `Basic ${Buffer.from('site:p@ss').toString('base64')}`;
    expect(proxy.asked).to.deep.equal([{ target: 'shop.example:80', authorization }]);
  });

  it('are refused by the guard before the proxy hears of them', async () => {
    known = { 'inside.example': '10.0.0.7', 'metadata.google.internal': '93.184.215.14' };
    for (const url of [
      'http://inside.example/',
      'http://127.0.0.1/',
      'http://[::1]/',
      'http://169.254.169.254/latest/meta-data',
      'http://metadata.google.internal/',
    ]) {
      expect((await reasonOf(url))[0], url).to.equal('outbound_refused');
      expect(await failureOf(outbound.check(url)), url).to.have.property('code', 'outbound_refused');
    }
    expect(proxy.asked).to.deep.equal([]);
  });

  it('go straight where no proxy is named for them, and are resolved here', async () => {
    findProxy = () => Promise.resolve(null);
    expect((await reasonOf('http://shop.example/'))[0]).to.equal('outbound_dns');
    expect(proxy.asked).to.deep.equal([]);
  });

  it('say what the proxy answered and what helps, and never its password', async () => {
    const host = new URL(proxy.url).host;
    const cases = {
      '403 Forbidden': `The proxy ${host} does not allow shop.example:80 (status 403). Allow it there, or name it in NO_PROXY.`,
      '407 Proxy Authentication Required': `The proxy ${host} asks for a user name and a password (status 407). Put them into its address in the environment.`,
      '502 Bad Gateway': `The proxy ${host} opened no connection to shop.example:80 (status 502).`,
    };
    for (const [status, expected] of Object.entries(cases)) {
      proxy.refuse = (socket) => void socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
      expect(await reasonOf('http://shop.example/')).to.deep.equal(['outbound_connect', expected]);
    }
    proxy.refuse = (socket) => void socket.destroy();
    const cut = `The connection to the proxy ${host} failed (ECONNRESET).`;
    expect(await reasonOf('http://shop.example/')).to.deep.equal(['outbound_connect', cut]);
    await proxy.stop();
    const closed = `The connection to the proxy ${host} failed (ECONNREFUSED).`;
    expect(await reasonOf('http://shop.example/')).to.deep.equal(['outbound_connect', closed]);
  });

  it('end when the proxy stays silent', async () => {
    proxy.refuse = () => undefined;
    expect(await reasonOf('http://shop.example/', { timeout: 50 })).to.deep.equal([
      'outbound_timeout',
      'shop.example did not respond within 50 ms.',
    ]);
  });

  it('never go through one of the environment to this machine', async () => {
    for (const url of ['http://localhost:11434', 'http://127.0.0.1:11434', 'http://127.0.0.2', 'http://[::1]:6333'])
      expect(await findProxyInEnvironment(url), url).to.equal(null);
  });
});
