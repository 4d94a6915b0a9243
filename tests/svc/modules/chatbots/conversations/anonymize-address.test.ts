import { expect } from 'chai';
import { anonymizeAddress } from '../../../../../plugins/svc/modules/chatbots/conversations/anonymize-address.ts';

describe('anonymised addresses', () => {
  const cases = [
    ['203.0.113.77', '203.0.113.0'],
    ['::ffff:203.0.113.77', '203.0.113.0'],
    ['2001:db8:85a3:8d3:1319:8a2e:370:7348', '2001:db8:85a3::'],
    ['2001:DB8::1', '2001:db8::'],
    ['fe80::1%eth0', 'fe80::'],
    ['::1', '::'],
    ['1::2:3:4:5:6:7', '1:0:2::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::'],
    ['', ''],
    ['unknown', ''],
  ] as const;
  for (const [whole, kept] of cases)
    it(`keeps ${kept === '' ? 'nothing' : kept} of ${whole === '' ? 'nothing' : whole}`, () =>
      expect(anonymizeAddress(whole)).to.equal(kept));
});
