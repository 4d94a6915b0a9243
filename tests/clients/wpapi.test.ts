import { expect } from 'chai';
import WPAPI from 'wpapi';
import type { Paging, WpRequest } from 'wpapi';
import type { TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { administrator, startShop, type Item } from './shop.ts';

/** A GIF of one pixel. */
const dot = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

type Page = Item[] & { readonly _paging: Paging };

describeSharedHosts('the client wpapi', ({ location }) => {
  let host: TestHost;

  const shared = shareSite(async () => ({ host: await startShop({ location: location() }) }));
  beforeEach(() => {
    ({ host } = shared());
    host.hooks.doAction('shop_reset');
  });

  it('finds the REST root by the Link header of a page', async () => {
    const site = await WPAPI.discover(host.url);
    const index = (await site.root()) as { readonly namespaces: readonly string[] };
    expect(index.namespaces).to.include('shop/v1');
  });

  it('finds a plugin’s namespace and its routes in the index', async () => {
    const site = await WPAPI.discover(`${host.url}/`);
    const item = await site.namespace('shop/v1')['items']!().id(7);
    expect(item).to.deep.include({ id: 7, title: 'Item 7' });
  });

  it('takes a route that is registered by its pattern', async () => {
    const site = new WPAPI({ endpoint: `${host.url}/wp-json` });
    const items = site.registerRoute('shop/v1', '/items/(?P<id>\\d+)');
    expect(await items.call(site).id(3)).to.deep.include({ id: 3, title: 'Item 3' });
  });

  it('turns pages by the headers of a list', async () => {
    const site = await WPAPI.discover(host.url);
    const first = (await site.namespace('shop/v1')['items']!().perPage(10)) as Page;
    expect(first).to.have.length(10);
    expect([first._paging.total, first._paging.totalPages].map(Number)).to.deep.equal([25, 3]);
    const second = (await first._paging.next) as Page;
    expect(second.map(({ id }) => id)).to.deep.equal([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    const third = (await second._paging.next) as Page;
    expect(third).to.have.length(5);
    expect(third._paging.next).to.equal(undefined);
    expect((await third._paging.prev) as Page).to.have.length(10);
  });

  it('is told the code, the sentence and the data of an error', async () => {
    const site = await WPAPI.discover(host.url);
    expect(await refusalOf(site.namespace('shop/v1')['items']!().id(999))).to.deep.equal({
      code: 'shop_no_item',
      message: 'There is no such item.',
      data: { status: 404, id: '999' },
    });
  });

  it('reads headers by HEAD', async () => {
    const site = await WPAPI.discover(host.url);
    const headers = await site.namespace('shop/v1')['items']!().headers();
    expect(headers).to.include({ 'x-wp-total': '25', 'x-wp-totalpages': '3' });
  });

  describe('with an application password', () => {
    it('creates, changes and deletes', async () => {
      const shop = (await signedIn(host)).namespace('shop/v1');
      const items = (): WpRequest => shop['items']!();
      const made = (await items().create({ title: 'New' })) as Item;
      expect(made).to.deep.equal({ id: 26, title: 'New' });
      expect(await items().id(made.id).update({ title: 'Newer' })).to.deep.include({ id: 26, title: 'Newer' });
      await items().id(made.id).delete();
      expect(await refusalOf(items().id(made.id))).to.include({ code: 'shop_no_item' });
    });

    it('writes posts, uploads, and reads them embedded', async () => {
      const site = await signedIn(host);
      const media = (await site.media!().file(dot, 'dot.gif').create({ title: 'A dot' })) as {
        id: number;
        source_url: string;
      };
      expect((await fetch(media.source_url)).headers.get('content-type')).to.equal('image/gif');
      const post = (await site.posts!().create({
        title: 'First',
        content: 'Text',
        status: 'publish',
        featured_media: media.id,
      })) as { id: number };
      const [found] = (await site.posts!().search('First').embed()) as {
        id: number;
        _embedded: Record<string, { id: number }[]>;
      }[];
      expect(found!.id).to.equal(post.id);
      expect(found!._embedded['author']![0]).to.include({ slug: 'ada' });
      expect(found!._embedded['wp:featuredmedia']![0]).to.include({ id: media.id });
      expect(await site.users!().me()).to.include({ slug: 'ada' });
      expect(await site.posts!().id(post.id).delete({ force: true })).to.include({ deleted: true });
    });

    it('finds, lists and runs abilities by the routes of the index', async () => {
      const site = (await signedIn(host)).namespace('wp-abilities/v1');
      const abilities = (): WpRequest => site['abilities']!();
      const first = (await abilities().perPage(3)) as readonly { readonly name: string }[] & {
        readonly _paging: Paging;
      };
      expect(first.map(({ name }) => name)[0]).to.equal('core/get-site-info');
      expect(Number(first._paging.total)).to.be.above(3);
      expect(await abilities().name('host/create-draft')).to.deep.include({
        name: 'host/create-draft',
        category: 'content',
      });
      const categories = (await site['categories']!()) as readonly { readonly slug: string }[];
      expect(categories.map(({ slug }) => slug)).to.include('content');
      const draft = await abilities()
        .name('host/create-draft')
        .run()
        .create({ input: { title: 'By wpapi' } });
      expect(draft).to.include({ title: 'By wpapi', status: 'draft' });
      const { id } = draft as { id: number };
      const listed = await abilities().name('host/list-posts').run().param('input', { status: 'draft' });
      expect(listed).to.have.nested.property('posts[0].id', id);
      const trashed = await abilities().name('host/trash-post').run().create({ input: { id } });
      expect(trashed).to.include({ id, status: 'trash' });
      const wrong = abilities().name('host/read-post').run().param('input', { id: 0 });
      expect(await refusalOf(wrong)).to.include({ code: 'ability_invalid_input' });
    });

    it('is told which parameter is wrong', async () => {
      const shop = (await signedIn(host)).namespace('shop/v1');
      const items = (): WpRequest => shop['items']!();
      expect(await refusalOf(items().create({ title: '' }))).to.deep.include({
        code: 'rest_invalid_param',
        message: 'Invalid parameter(s): title',
      });
    });

    it('is refused when it is wrong', async () => {
      const site = (await WPAPI.discover(host.url)).auth({ username: administrator.login, password: 'wrong' });
      expect(await refusalOf(site.namespace('shop/v1')['items']!().create({ title: 'New' }))).to.deep.include({
        code: 'incorrect_password',
        data: { status: 401 },
      });
    });
  });
});

async function signedIn(host: TestHost): Promise<WPAPI> {
  const user = await host.users.find(administrator.login);
  const { password } = await createApplicationPasswords(host).create(user!.id, 'wpapi');
  return (await WPAPI.discover(host.url)).auth({ username: administrator.login, password });
}

function refusalOf(request: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(request).then(
    (answer) => expect.fail(`was answered: ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
}
