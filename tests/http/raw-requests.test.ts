import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { sendRaw } from '../rest/raw-request.ts';

const post = (headers: string, body = ''): string => `POST /wp-json/ HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`;
const get = (headers: string): string => `GET /healthz HTTP/1.1\r\n${headers}\r\n\r\n`;

/** Requests that two parsers could understand differently. */
const ambiguous: Readonly<Record<string, string>> = {
  'both a length and chunks': post('Content-Length: 4\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
  'two different lengths': post('Content-Length: 1\r\nContent-Length: 2', 'ab'),
  'a negative length': post('Content-Length: -1'),
  'a length with a sign': post('Content-Length: +1', 'a'),
  'a hexadecimal length': post('Content-Length: 0x1', 'a'),
  'a list of lengths': post('Content-Length: 1, 2', 'a'),
  'a coding after chunked': post('Transfer-Encoding: chunked, identity', '0\r\n\r\n'),
  'an unknown coding': post('Transfer-Encoding: xchunked', '0\r\n\r\n'),
  'a blank before the colon': post('Transfer-Encoding : chunked', '0\r\n\r\n'),
  'a folded header': get('Host: a\r\nX-A: 1\r\n folded'),
  'a chunk size that is no number': post('Transfer-Encoding: chunked', 'zz\r\n'),
  'a NUL in a header': get('Host: a\r\nX-A: a\0b'),
  'a header without a name': get('Host: a\r\n: x'),
  'chunks after a length': post('Transfer-Encoding: chunked\r\nContent-Length: 4', '0\r\n\r\n'),
  'two equal lengths': post('Content-Length: 1\r\nContent-Length: 1', 'a'),
  'an empty length': post('Content-Length: ', 'a'),
  'a length with a fraction': post('Content-Length: 1.0', 'a'),
  'a length with a blank inside': post('Content-Length: 1 1', 'a'),
  'a length beyond all numbers': post(`Content-Length: ${'9'.repeat(30)}`, 'a'),
  'a blank before the colon of a length': post('Content-Length : 1', 'a'),
  'chunked twice': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n'),
  'a coding in quotes': post('Transfer-Encoding: "chunked"', '0\r\n\r\n'),
  'a coding with a vertical tab': post('Transfer-Encoding:\x0bchunked', '0\r\n\r\n'),
  'identity as the coding': post('Transfer-Encoding: identity', 'a'),
  'a coding folded into the next line': post('Transfer-Encoding:\r\n chunked', '0\r\n\r\n'),
  'a chunk size with a sign': post('Transfer-Encoding: chunked', '+1\r\na\r\n0\r\n\r\n'),
  'a chunk size with 0x': post('Transfer-Encoding: chunked', '0x1\r\na\r\n0\r\n\r\n'),
  'a chunk size beyond all numbers': post('Transfer-Encoding: chunked', `${'f'.repeat(20)}\r\na`),
  'a bare line feed in the head': 'GET /healthz HTTP/1.1\nHost: a\n\n',
  'a bare carriage return in a header': get('Host: a\r\nX-A: 1\rX-B: 2'),
  'a header with a blank in its name': get('Host: a\r\nX A: 1'),
  'two Hosts': get('Host: a\r\nHost: b'),
  'no Host': get('X-A: 1'),
  'an unknown version': 'GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n',
  'a blank in the path': 'GET /health z HTTP/1.1\r\nHost: a\r\n\r\n',
};

describe('ambiguous requests', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ env: { SITE_URL: 'https://shop.example' } });
  });
  after(() => host.stop());

  for (const [name, text] of Object.entries(ambiguous)) {
    it(`with ${name} are a 400, and nothing after them is read`, async () => {
      const exchange = sendRaw(host.url, text + get('Host: a'));
      expect(await exchange.until(/\r\n/)).to.match(/^HTTP\/1\.1 400 /);
      expect((await exchange.ended()).match(/HTTP\/1\.1 /g)).to.have.length(1);
    });
  }

  it('are refused with the security headers of all responses', async () => {
    const refused = {
      400: ambiguous['a folded header'] ?? '',
      '400 without a host': ambiguous['no Host'] ?? '',
      417: get('Host: a\r\nExpect: the-unexpected'),
      431: get(`Host: a\r\nX-A: ${'a'.repeat(20_000)}`),
    };
    for (const [status, text] of Object.entries(refused)) {
      const answer = await sendRaw(host.url, text).ended();
      expect(answer, status)
        .to.match(new RegExp(`^HTTP/1\\.1 ${status.slice(0, 3)} `))
        .and.match(/\r\nContent-Security-Policy: default-src/i)
        .and.match(/\r\nX-Content-Type-Options: nosniff\r\n/i)
        .and.match(/\r\nStrict-Transport-Security: max-age=/i)
        .and.match(/\r\nConnection: close\r\n/i);
    }
  });

  it('after a body that breaks off are not read', async () => {
    const broken = post('Transfer-Encoding: chunked', '1\r\nabc\r\n0\r\n\r\n');
    const answers = await sendRaw(host.url, broken + get('Host: a')).ended();
    expect(answers.match(/HTTP\/1\.1 4\d\d /g)).to.have.length(1);
    expect(answers).not.to.contain(' 200 ');
  });

  it('do not include HTTP/1.0 without a host', async () => {
    expect(await sendRaw(host.url, 'GET /healthz HTTP/1.0\r\n\r\n').ended()).to.match(/^HTTP\/1\.1 200 /);
  });
});

describe('addresses of requests', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost();
  });
  after(() => host.stop());

  const ask = async (address: string): Promise<{ status: string | undefined; body: string }> => {
    const answer = await sendRaw(host.url, `GET ${address} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`).ended();
    return { status: / (\d+) /.exec(answer)?.[1], body: answer.split('\r\n\r\n')[1] ?? '' };
  };

  for (const [name, path, expected] of [
    ['REST', '/wp-json/', '"namespaces"'],
    ['the health', '/healthz', '"ok"'],
    ['a page', '/?s=x', '<html'],
    ['an unknown page', '/nowhere', '<html'],
  ] as const)
    it(`lose the origin of an absolute form, also one that is no URL, for ${name}`, async () => {
      const { status, body } = await ask(path);
      expect(body).to.include(expected);
      for (const origin of ['http://other.example', 'https://[', 'HTTP://user:word@a', 'ftp://a']) {
        const absolute = await ask(`${origin}${path}`);
        expect(absolute.status, origin).to.equal(status);
        expect(absolute.body, origin).to.include(expected);
      }
    });

  it('with bytes that are not escaped are a 400, for REST and for pages', async () => {
    for (const path of ['/wp-json/wp/v2/search?search=', '/wp-json/', '/?s='])
      for (const bytes of ['ö', '\xff']) {
        const request = `GET ${path}${bytes} HTTP/1.1\r\nHost: a\r\n\r\n`;
        expect(await sendRaw(host.url, request).ended(), path).to.match(/^HTTP\/1\.1 400 /);
      }
  });
});
