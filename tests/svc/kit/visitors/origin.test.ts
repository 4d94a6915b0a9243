import { expect } from 'chai';
import type { BotEmbed } from '../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { mayEmbed, namedOrigin, originKey, readOrigin } from '../../../../plugins/svc/kit/visitors/origin.ts';

const site = 'https://www.example.com';
const embed = (allowed_domains: readonly string[], more: Partial<BotEmbed> = {}): BotEmbed => ({
  enabled: true,
  any_site: false,
  allowed_domains,
  ...more,
});
const allows = (entry: string, origin: string): boolean => mayEmbed(embed([entry]), namedOrigin(origin, site));

describe('origins of pages (D16)', () => {
  const table: readonly [entry: string, allowed: readonly string[], refused: readonly string[]][] = [
    [
      'shop.test',
      ['https://shop.test', 'http://shop.test', 'https://SHOP.test', 'https://shop.test.', 'https://shop.test:8443'],
      ['https://www.shop.test', 'https://evilshop.test', 'https://shop.test.evil.test', 'https://shop.testing'],
    ],
    [
      'https://shop.test',
      ['https://shop.test', 'https://shop.test:443'],
      ['http://shop.test', 'https://shop.test:8443', 'http://shop.test:443'],
    ],
    [
      'https://shop.test:8443',
      ['https://shop.test:8443'],
      ['https://shop.test', 'http://shop.test:8443', 'https://shop.test:84430'],
    ],
    ['http://shop.test', ['http://shop.test', 'http://shop.test:80'], ['https://shop.test']],
    [
      '*.shop.test',
      ['https://a.shop.test', 'http://a.b.shop.test', 'https://A.SHOP.TEST.'],
      ['https://shop.test', 'https://evilshop.test', 'https://.shop.test', 'https://a.shop.test.evil.test'],
    ],
    [
      'https://*.shop.test:8443',
      ['https://a.shop.test:8443'],
      ['https://a.shop.test', 'https://shop.test:8443', 'http://a.shop.test:8443'],
    ],
    ['Bücher.test', ['https://xn--bcher-kva.test', 'https://bücher.test'], ['https://bucher.test']],
    ['[2001:db8::1]', ['https://[2001:db8::1]', 'https://[2001:0db8:0:0:0:0:0:1]'], ['https://[2001:db8::2]']],
    ['127.0.0.1:3000', ['http://127.0.0.1:3000'], ['http://127.0.0.1:3001', 'http://localhost:3000']],
    ['localhost', ['http://localhost:5173', 'http://localhost'], ['http://localhost.evil.test']],
    ['*', [], ['https://shop.test']],
    ['', [], ['https://shop.test', 'null']],
  ];
  for (const [entry, allowed, refused] of table) {
    it(`of '${entry}'`, () => {
      for (const origin of allowed) expect(allows(entry, origin), origin).to.equal(true);
      for (const origin of [
        ...refused,
        'null',
        'https://',
        'https://shop.test/',
        'https://shop.test https://a.test',
        'shop.test',
        'https://a@shop.test',
        'ftp://shop.test',
        'chrome-extension://shop.test',
      ]) {
        expect(allows(entry, origin), origin).to.equal(false);
      }
    });
  }

  it('of the site itself are always allowed while embedding is on, in any spelling', () => {
    for (const origin of ['https://www.example.com', 'https://WWW.example.com:443', 'https://www.example.com.']) {
      expect(namedOrigin(origin, site).isOwn, origin).to.equal(true);
      expect(mayEmbed(embed(['other.test']), namedOrigin(origin, site)), origin).to.equal(true);
      expect(mayEmbed(embed([], { enabled: false, any_site: true }), namedOrigin(origin, site)), origin).to.equal(
        false,
      );
    }
    for (const origin of ['http://www.example.com', 'https://www.example.com:444', 'https://example.com', 'null'])
      expect(namedOrigin(origin, site).isOwn, origin).to.equal(false);
  });

  it('that are opaque need any_site', () => {
    expect(mayEmbed(embed([], { any_site: true }), namedOrigin('null', site))).to.equal(true);
    expect(mayEmbed(embed([], { any_site: true }), namedOrigin('no origin', site))).to.equal(false);
  });

  it('are read from the header Origin, otherwise from Referer', () => {
    expect(readOrigin({ origin: 'https://a.test', referer: 'https://b.test/x' }, site)).to.deep.equal({
      origin: 'https://a.test',
      isOwn: false,
    });
    expect(readOrigin({ referer: 'https://b.test/x?y=https://a.test' }, site)).to.deep.equal({
      origin: 'https://b.test',
      isOwn: false,
    });
    expect(readOrigin({ referer: `${site}/page` }, site)).to.deep.equal({ origin: site, isOwn: true });
    expect(readOrigin({ referer: 'nonsense' }, site)).to.deep.equal({ origin: 'nonsense', isOwn: false });
    expect(readOrigin({}, site)).to.deep.equal({ origin: null, isOwn: false });
    expect(mayEmbed(embed([]), readOrigin({}, site))).to.equal(true);
    expect(mayEmbed(embed([]), readOrigin({ referer: 'nonsense' }, site))).to.equal(false);
  });

  it('have one key for all spellings', () => {
    const keyOf = (origin: string): string => originKey(namedOrigin(origin, site));
    expect(keyOf('https://Shop.test'))
      .to.equal(keyOf('https://shop.test:443'))
      .and.not.equal(keyOf('http://shop.test'));
    expect(originKey({ origin: null, isOwn: false }))
      .to.equal('')
      .and.not.equal(keyOf('null'));
  });
});
