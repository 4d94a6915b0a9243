import { expect } from 'chai';
import { openAdmin, type OpenAdmin } from './open-admin.ts';

describe('files that pages of the admin send', () => {
  let host: OpenAdmin;
  beforeEach(async () => {
    host = await openAdmin();
  });
  afterEach(() => host.close());

  for (const [name, header] of [
    ['report 1.csv', 'attachment; filename="report 1.csv"'],
    ["a*b'(c)é.csv", `attachment; filename="a_b__c__.csv"; filename*=UTF-8''a%2Ab%27%28c%29%C3%A9.csv`],
  ] as const)
    it(`are named in ASCII for old browsers and as RFC 8187 writes it: ${name}`, async () => {
      async function* content(): AsyncGenerator<string> {
        yield 'a,b';
      }
      host.admin.api.addPage({
        ...{ slug: 'probe', title: 'Probe', menu: 'Probe', icon: 'chat' },
        render: async () => ({ template: 'probe/page', data: { greeting: '' } }),
        actions: { save: async () => ({ download: { name, type: 'text/csv', content: content() } }) },
      });
      const browser = await host.signedIn();
      const nonce = (await browser.get('/admin/probe')).nonce('/admin/probe?action&#x3D;save');
      const answer = await browser.post('/admin/probe?action=save', { _nonce: nonce });
      expect([answer.text, answer.headers.get('content-disposition')]).to.deep.equal(['a,b', header]);
    });
});
