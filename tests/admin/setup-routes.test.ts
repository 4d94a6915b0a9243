import { expect } from 'chai';

import { RestError } from '#plugin-api';
import { openAdmin, type OpenAdmin } from './open-admin.ts';

const filled = {
  token: 'one-time',
  site_name: 'Tea',
  login: 'ann',
  email: 'ann@example.com',
  password: 'a long password',
  password_again: 'a long password',
};

describe('first-run setup', () => {
  let host: OpenAdmin;
  beforeEach(async () => {
    host = await openAdmin({ needsSetup: true });
  });
  afterEach(() => host.close());

  it('makes the administrator, signs him in and shows the choices of plugins in order', async () => {
    host.admin.api.addSetupChoice({
      id: 'own',
      label: 'My provider',
      description: 'Bring a key.',
      position: 20,
      choose: async () => ({ redirect: 'svc' }),
    });
    host.admin.api.addSetupChoice({
      id: 'sandbox',
      label: 'Sandbox <1>',
      description: 'No account needed.',
      position: 10,
      choose: async () => ({ template: 'probe/finish', data: { text: 'Your key is ready.' } }),
    });
    const visitor = host.browser();
    expect((await visitor.get('/admin/setup?token=one-time')).text).to.contain('name="token" value="one-time"');
    const made = await visitor.post('/admin/setup', filled);
    expect([made.status, made.location]).to.deep.equal([303, '/admin/setup/choice']);
    const choices = await visitor.get('/admin/setup/choice');
    expect(choices.text.indexOf('Sandbox &lt;1&gt;')).to.be.within(1, choices.text.indexOf('My provider'));
    const nonce = choices.nonce('/admin/setup/choice');
    const finish = await visitor.post('/admin/setup/choice', { _nonce: nonce, choice: 'sandbox' });
    expect(finish.text).to.contain('<p id="finish">Your key is ready.</p>');
    expect(finish.headers.get('cache-control')).to.equal('no-store');
    const other = await visitor.post('/admin/setup/choice', { _nonce: nonce, choice: 'own' });
    expect([other.status, other.location]).to.deep.equal([303, '/admin/svc']);
  });

  it('works a single time', async () => {
    await host.browser().post('/admin/setup', filled);
    const visitor = host.browser();
    const again = await visitor.get('/admin/setup?token=one-time');
    expect(again.status).to.equal(403);
    expect(again.text).to.contain('This setup link has been used');
    const forced = await visitor.post('/admin/setup', { ...filled, login: 'eve' });
    expect(forced.status).to.equal(403);
    expect(forced.headers.getSetCookie()).to.deep.equal([]);
  });

  it('opens for nobody without the token', async () => {
    for (const path of [
      '/admin/setup',
      '/admin/setup?token=',
      '/admin/setup?token=guess',
      '/admin/setup?token[]=one-time',
    ]) {
      expect((await host.browser().get(path)).status).to.equal(403);
    }
    expect((await host.browser().post('/admin/setup', { ...filled, token: 'guess' })).status).to.equal(403);
    for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'null' }])
      expect((await host.browser().post('/admin/setup', filled, headers)).status).to.equal(403);
    expect((await host.browser().get('/admin/login')).text).to.contain('Open the setup link');
  });

  it('says at each field what is wrong, keeps what was typed, and sends no password back', async () => {
    const answer = await host.browser().post('/admin/setup', {
      ...filled,
      site_name: ' ',
      email: 'nonsense',
      password: 'short-1',
      password_again: 'other-2',
    });
    expect(answer.status).to.equal(400);
    expect(answer.text)
      .to.contain('Enter a name for the site.')
      .and.contain('Enter a valid email address')
      .and.contain('Use at least 12 characters.')
      .and.contain('The passwords do not match.');
    expect(answer.text).to.contain('value="ann"').and.not.contain('short-1').and.not.contain('other-2');
  });

  it("shows the sentences of the users' own checks at their fields", async () => {
    const answer = await host.browser().post('/admin/setup', { ...filled, login: 'taken' });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.contain('<p class="field-error" id="login-error">This name is taken.</p>');
  });

  it('goes straight to the dashboard when no plugin offers a choice', async () => {
    const visitor = host.browser();
    await visitor.post('/admin/setup', filled);
    const answer = await visitor.get('/admin/setup/choice');
    expect([answer.status, answer.location]).to.deep.equal([303, '/admin/']);
  });

  it('lets only an administrator choose, and only with the nonce', async () => {
    let chosen = 0;
    host.admin.api.addSetupChoice({
      id: 'own',
      label: 'Own',
      description: '',
      choose: async () => ((chosen += 1), { redirect: '' }),
    });
    expect((await host.browser().get('/admin/setup/choice')).location).to.contain('/admin/login');
    expect((await (await host.signedIn('reader')).get('/admin/setup/choice')).status).to.equal(403);
    const visitor = host.browser();
    await visitor.post('/admin/setup', filled);
    expect((await visitor.post('/admin/setup/choice', { choice: 'own' })).status).to.equal(403);
    const nonce = (await visitor.get('/admin/setup/choice')).nonce('/admin/setup/choice');
    expect((await visitor.post('/admin/setup/choice', { choice: 'nothing', _nonce: nonce })).status).to.equal(400);
    expect(chosen).to.equal(0);
  });

  it('leaves out a choice that cannot be taken now, or cannot say so', async () => {
    const choose = async () => ({ redirect: '' });
    host.admin.api.addSetupChoice({ id: 'own', label: 'Own', description: '', choose });
    host.admin.api.addSetupChoice({ id: 'gone', label: 'Gone', description: '', choose, available: async () => false });
    host.admin.api.addSetupChoice({
      id: 'broken',
      label: 'Broken',
      description: '',
      choose,
      available: async () => {
        throw new Error('no');
      },
    });
    const visitor = host.browser();
    await visitor.post('/admin/setup', filled);
    const choices = await visitor.get('/admin/setup/choice');
    expect(choices.text).to.contain('Own').and.not.contain('Gone').and.not.contain('Broken');
    expect(
      (await visitor.post('/admin/setup/choice', { choice: 'gone', _nonce: choices.nonce('/admin/setup/choice') }))
        .status,
    ).to.equal(400);
  });

  it('stays on the choices with the sentence of a choice that fails', async () => {
    host.admin.api.addSetupChoice({
      id: 'own',
      label: 'Own',
      description: '',
      choose: async () => {
        throw new RestError({ code: 'x', status: 409, message: 'The sandbox is not there.' });
      },
    });
    const visitor = host.browser();
    await visitor.post('/admin/setup', filled);
    const nonce = (await visitor.get('/admin/setup/choice')).nonce('/admin/setup/choice');
    const answer = await visitor.post('/admin/setup/choice', { choice: 'own', _nonce: nonce });
    expect(answer.status).to.equal(409);
    expect(answer.text).to.contain('The sandbox is not there.').and.contain('value="own"');
  });
});
