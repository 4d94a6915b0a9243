import { expect } from 'chai';
import { clientNetwork } from '#plugin-api';
import { isListed } from '../../../../plugins/svc/modules/chatbots/widget/moderation.ts';
import { hasBannedWord } from '../../../../plugins/svc/kit/fold-text.ts';

describe('addresses of visitors', () => {
  it('share a count with their network: IPv4 alone, IPv6 with its first 64 bits', () => {
    expect(clientNetwork('203.0.113.7')).to.equal('203.0.113.7');
    expect(clientNetwork('::ffff:203.0.113.7')).to.equal('203.0.113.7');
    expect(clientNetwork('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2');
    expect(clientNetwork('2001:0db8:1:2::9%eth0')).to.equal('2001:db8:1:2');
    expect(clientNetwork('2001:db8::1')).to.equal('2001:db8:0:0');
    expect(clientNetwork('::1')).to.equal('0:0:0:0');
    expect(clientNetwork('nonsense')).to.equal('');
  });

  it('are banned one by one and by range', () => {
    const list = ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32', 'nonsense', '10.0.0.0/99', ''];
    for (const ip of ['203.0.113.7', '::ffff:203.0.113.7', '198.51.100.255', '2001:db8:ffff::1'])
      expect(isListed(ip, list), ip).to.equal(true);
    for (const ip of ['203.0.113.8', '198.51.101.0', '2001:db9::1', '10.0.0.1', '', 'nonsense'])
      expect(isListed(ip, list), ip).to.equal(false);
  });
});

describe('banned words', () => {
  it('are whole words, ignoring case, accents and separators', () => {
    const banned = ['Crème brûlée', 'spam', '¡!', '日本'];
    for (const text of [
      'CREME  BRULEE please',
      'a (creme-brulee)!',
      'SPAM',
      'sp\u200bam',
      'say ¡! now',
      '日本',
      '日本語',
    ])
      expect(hasBannedWord(text, banned), text).to.equal(true);
    for (const text of ['spammer', 'creme or brulee', 'antispam', ''])
      expect(hasBannedWord(text, banned), text).to.equal(false);
  });

  const scripts: readonly (readonly [entry: string, text: string, isBanned: boolean])[] = [
    ['赌博', '我想赌博吗', true],
    ['カジノ', 'オンラインカジノで遊ぶ', true],
    ['カジノ', 'ガジノ', false],
    ['พนัน', 'เว็บพนันออนไลน์', true],
    ['कम', 'मुझे काम चाहिए', false],
    ['काम', 'मुझे काम चाहिए', true],
    ['straße', 'Die STRASSE', true],
    ['casino', 'ＣＡＳＩＮＯ', true],
    ['كتاب', 'كِتَاب', true],
    ['казино', 'Казино́', true],
  ];
  for (const [entry, text, isBanned] of scripts)
    it(`find ${entry}${isBanned ? '' : ' not'} in ${text}`, () => {
      expect(hasBannedWord(text, [entry])).to.equal(isBanned);
    });
});
