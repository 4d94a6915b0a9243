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
  'no Host': get('X-A: 1'),
  'an unknown version': 'GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n',
  'a blank in the path': 'GET /health z HTTP/1.1\r\nHost: a\r\n\r\n',
};

describe('ambiguous requests', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost();
  });
  after(() => host.stop());

  for (const [name, text] of Object.entries(ambiguous)) {
    it(`with ${name} are a 400, and nothing after them is read`, async () => {
      const exchange = sendRaw(host.url, text + get('Host: a'));
      expect(await exchange.until(/\r\n/)).to.match(/^HTTP\/1\.1 400 /);
      expect((await exchange.ended()).match(/HTTP\/1\.1 /g)).to.have.length(1);
    });
  }
});
