import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, type PagesSite } from './pages-site.ts';

describeHosts('what people tell about themselves, in the admin', (dialectCase) => {
  let site: PagesSite;
  let eve: User;
  beforeEach(async () => {
    site = await openPages(dialectCase);
    eve = await site.create({ login: 'eve', displayName: 'Eve <Adams>', role: 'subscriber' });
    await site.create({ login: 'ada', role: 'administrator' });
  });
  afterEach(() => site.host.stop());

  const about = {
    display_name: 'Eve <Adams>',
    email: 'eve@example.com',
    first_name: 'Eve',
    last_name: 'Adams',
    nickname: 'E',
    url: 'https://eve.example',
    description: 'First.\r\nSecond.',
    slug: 'eve-adams',
    locale: 'fr_FR',
  };

  it('is changed by themselves on their profile', async () => {
    const browser = await site.signIn('eve');
    expect((await browser.submit('/admin/profile', 'save', about)).text).to.contain('Profile saved.');
    expect((await site.host.users.get(eve.id))?.profile).to.deep.equal({
      firstName: 'Eve',
      lastName: 'Adams',
      nickname: 'E',
      url: 'https://eve.example',
      description: 'First.\nSecond.',
      slug: 'eve-adams',
      locale: 'fr_FR',
    });
    expect((await browser.get('/admin/profile')).html)
      .to.contain('value="https://eve.example"')
      .and.match(/<img class="avatar" src="\/avatars\/96\/\d+\/E\.svg" alt=""/);
  });

  it('comes back as it was typed, with a sentence at what is refused', async () => {
    const browser = await site.signIn('eve');
    const refused = await browser.submit('/admin/profile', 'save', { ...about, url: 'ftp://eve', slug: 'ada' });
    expect(refused.html)
      .to.match(/id="url"[^>]*aria-invalid="true"/)
      .and.contain('value="ftp://eve"');
    const taken = await browser.submit('/admin/profile', 'save', { ...about, slug: 'ada' });
    expect(taken.text).to.contain('Another user has this URL name.');
    expect((await site.host.users.get(eve.id))?.profile?.firstName).to.equal('');
  });

  it('is changed by those who may edit users, and by no one else', async () => {
    const admin = await site.signIn('ada');
    const path = `/admin/users/edit?id=${eve.id}`;
    expect((await admin.submit(path, 'save', { ...about, id: String(eve.id) })).text).to.contain('User saved.');
    expect((await site.host.users.get(eve.id))?.profile?.lastName).to.equal('Adams');
    expect((await admin.get('/admin/users')).html).to.match(/<img class="avatar" src="\/avatars\/48\/\d+\/E\.svg"/);
    expect((await (await site.signIn('eve')).get(path)).status).to.equal(403);
  });
});
