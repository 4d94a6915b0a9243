import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { readCsv, readFeed, readPageText } from '../../../plugins/svc/kit/documents.ts';
import type { parseSitemap } from '../../../plugins/svc/modules/knowledge-base/sources/sitemap.reader.ts';
import { documents } from '../../helpers/documents.ts';
import { failureOf } from '../../helpers/failure-of.ts';

const host = { documents };
const sitemap = (bytes: Uint8Array) =>
  documents.read<typeof parseSitemap>({
    module: new URL('../../../plugins/svc/modules/knowledge-base/sources/sitemap.reader.ts', import.meta.url),
    reader: 'parseSitemap',
    input: { bytes, host: 'example.com', most: 2_001 },
    deadline: 60_000,
  });
const urlset = (count: number): Buffer =>
  Buffer.from(
    `<urlset>${Array.from({ length: count }, (_, at) => `<url><loc>https://example.com/${String(at)}</loc></url>`).join('')}</urlset>`,
  );

describe('documents of strangers', () => {
  it('are read by each reader', async () => {
    expect(await readPageText(host, '<title>T</title><p>Text')).to.deep.equal({ title: 'T', text: 'Text' });
    const table = await readCsv(host, 'a,b\n1,2\n3,4');
    expect([...table.rows()]).to.deep.equal([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ]);
    expect(table).to.deep.include({ header: ['a', 'b'], delimiter: ',', rowCount: 2 });
    const source = Buffer.from('<rss><channel><title>News</title><item><title>One</title></item></channel></rss>');
    const feed = await readFeed(host, { source });
    expect([feed.title, feed.entries.map(({ title }) => title)]).to.deep.equal(['News', ['One']]);
    expect(source.length, 'the source of a feed is copied').to.be.greaterThan(0);
    expect(await sitemap(gzipSync(urlset(2)))).to.deep.equal({
      kind: 'urlset',
      addresses: ['https://example.com/0', 'https://example.com/1'],
    });
  });

  it('are refused with the sentence of their reader', async () => {
    expect(await failureOf(readCsv(host, 'a\n"1'))).to.include({ name: 'DocumentError', code: 'unreadable' });
    expect(await failureOf(readFeed(host, { source: '<html>' }))).to.match(/This is not a feed/);
    expect(await failureOf(sitemap(gzipSync(Buffer.alloc(51_000_000))))).to.match(/damaged or larger than 50 MB/);
  });

  it('give no more than asked for, however long they are', async () => {
    expect((await sitemap(urlset(20_000))).addresses).to.have.length(2_001);
    const items = '<item><title>One</title></item>'.repeat(20_000);
    const feed = await readFeed(host, { source: `<rss><channel>${items}</channel></rss>` }, { deadline: 60_000 });
    expect(feed.entries).to.have.length(10_000);
  });

  it('are refused when they nest too deeply to be read in time, and the next one is read', async () => {
    const deep = '<i>'.repeat(3_000_000);
    for (const reading of [
      readPageText(host, deep, { deadline: 3_000 }),
      readFeed(host, { source: `<rss>${deep}` }, { deadline: 3_000 }),
    ])
      expect(await failureOf(reading)).to.include({ name: 'DocumentError' });
    expect((await readPageText(host, '<p>next')).text).to.equal('next');
  });
});
