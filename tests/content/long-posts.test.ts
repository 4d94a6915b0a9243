import { expect } from 'chai';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openContentSite, type Answer, type ContentSite } from './content-site.ts';

/** Characters that the content of a post may have. */
const longest = 1_048_576;

/* What a visitor may ask of posts that are as long as a post can be (D46). */
describeSharedHosts('lists of posts that are as long as posts can be', (dialectCase) => {
  const shared = shareSite(() => openContentSite(dialectCase));
  let site: ContentSite;
  let statements: string[];
  let undo: () => void;
  beforeEach(async () => {
    site = shared();
    const content = 'lorem ipsum '.repeat(longest / 12);
    for (let number = 1; number <= 11; number += 1)
      await site.host.content.posts.create({ title: `Long ${String(number)}`, content, status: 'publish' });
    statements = [];
    undo = site.host.database.observeQueries((sql) => {
      statements.push(sql);
      return () => undefined;
    });
  });
  afterEach(() => undo());

  /** Statements of the event loop's connections that read or compare the texts of posts. */
  const readingTexts = (): string[] =>
    statements.filter(
      (sql) =>
        /\bposts\b/.test(sql) && /"content"|`content`|search_text/.test(sql.replaceAll('octet_length(content)', '')),
    );
  const codeOf = ({ status, body }: Answer): unknown[] => [status, body?.code];

  it('are refused before the texts are read, whatever is wanted of them', async () => {
    for (const query of ['', '&_fields=id', '&context=embed'])
      expect(codeOf(await site.call(`/posts?per_page=100${query}`))).to.deep.equal([400, 'rest_list_too_large']);
    expect(readingTexts()).to.deep.equal([]);
    expect((await site.call('/posts?per_page=10&_fields=id')).body).to.have.length(10);
    expect(readingTexts()).to.have.length(1);
  });

  it('are searched beside the event loop, which reads the texts of what is shown alone', async () => {
    const words = Array<string>(20).fill('lorem ipsum').join('%20');
    for (const path of [`/search?per_page=100&search=${words}`, '/search?per_page=100&search=lorem']) {
      const { status, body } = await site.call(path);
      expect([status, (body as unknown as unknown[]).length], path.slice(0, 60)).to.deep.equal([200, 11]);
    }
    expect(readingTexts()).to.deep.equal([]);
    const found = await site.call(`/posts?per_page=1&search=${words}&_fields=id`);
    expect([found.status, found.headers.get('x-wp-total')]).to.deep.equal([200, '11']);
    expect(readingTexts()).to.have.length(1);
  });

  it('are ordered by their titles first', async () => {
    const other = await site.host.content.posts.create({
      title: 'A lorem ipsum dolor',
      content: 'x',
      status: 'publish',
    });
    const { body } = await site.call('/search?search=ipsum%20lorem');
    expect((body as unknown as { id: number }[])[0]?.id).to.equal(other.id);
  });
});
