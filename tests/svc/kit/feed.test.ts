import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { DocumentError } from '#plugin-api';
import { parseFeed, type Feed } from '../../../plugins/svc/kit/feed.reader.ts';

const readFeed = (source: string | Uint8Array, address?: string): Feed => parseFeed({ source, address });

const rss = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>News &amp; more</title><link>https://example.com/</link><atom:link href="https://example.com/feed" rel="self"/>
<image><title>Logo</title></image>
<item><title><![CDATA[Coffee <em>up</em> there]]></title><link>https://example.com/coffee</link><guid isPermaLink="false">tag:1</guid>
<description>&lt;p&gt;Water boils&lt;/p&gt;&lt;p&gt;earlier &amp;amp; cooler.&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;</description>
<media:group><media:title>Not the title</media:title></media:group><pubDate>Fri, 20 Nov 2026 10:00:00 +0100</pubDate></item>
<item><title>Tea</title><link>/tea?a=1&amp;b=2</link><content:encoded><![CDATA[<h2>Leaves</h2><p>The <b>whole</b> text</p>]]></content:encoded></item>
</channel></rss>`;

describe('reading feeds', () => {
  it('reads entries of RSS 2.0', () => {
    const feed = readFeed(rss, 'https://example.com/feed');
    expect(feed.title).to.equal('News & more');
    expect(feed.entries).to.deep.equal([
      {
        id: 'tag:1',
        title: 'Coffee up there',
        url: 'https://example.com/coffee',
        summary: 'Water boils earlier & cooler.',
        content: '',
        published: Date.parse('2026-11-20T09:00:00Z'),
        updated: null,
      },
      {
        id: 'https://example.com/tea?a=1&b=2',
        title: 'Tea',
        url: 'https://example.com/tea?a=1&b=2',
        summary: 'Leaves The whole text',
        content: 'Leaves The whole text',
        published: null,
        updated: null,
      },
    ]);
  });

  it('reads entries of Atom, with the link to the entry', () => {
    const { entries, title } =
      readFeed(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.com/blog/"><title>Blog</title>
      <entry><id>urn:uuid:1</id><title>1 &lt; 2 &amp;amp; true</title><link rel="edit" href="edit/1"/><link href="one"/>
      <summary type="html">&lt;b&gt;Short&lt;/b&gt;</summary><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Long</p></div></content>
      <updated>2026-11-20T10:00:00Z</updated><author><name>Ann</name></author></entry>
      <entry><id>urn:uuid:2</id><title type="html">A &lt;i&gt;slanted&lt;/i&gt; title</title><content type="xhtml"><div><p>One</p><p>Two</p></div></content></entry></feed>`);
    expect(title).to.equal('Blog');
    expect(entries).to.deep.equal([
      {
        id: 'urn:uuid:1',
        title: '1 < 2 &amp; true',
        url: 'https://example.com/blog/one',
        summary: 'Short',
        content: 'Long',
        published: Date.parse('2026-11-20T10:00:00Z'),
        updated: Date.parse('2026-11-20T10:00:00Z'),
      },
      {
        ...{ id: 'urn:uuid:2', title: 'A slanted title', url: '', summary: 'One Two', content: 'One Two' },
        ...{ published: null, updated: null },
      },
    ]);
  });

  it('reads Atom with a prefix, and RSS 1.0', () => {
    expect(
      readFeed(
        '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>x</a:id><a:title>T</a:title></a:entry></a:feed>',
      ).entries.map(({ id, title }) => [id, title]),
    ).to.deep.equal([['x', 'T']]);
    expect(
      readFeed(
        '<rdf:RDF><channel><title>C</title></channel><item><title>T</title><link>https://a.example/</link><dc:date>2026-11-20</dc:date></item></rdf:RDF>',
      ).entries[0],
    ).to.include({ title: 'T', url: 'https://a.example/', published: Date.parse('2026-11-20') });
  });

  it('uses the encoding that the document declares', () => {
    const bytes = Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><item><title>Caf\u00e9</title></item></channel></rss>',
      'latin1',
    );
    expect(readFeed(bytes).entries[0]?.title).to.equal('Café');
    expect(
      readFeed(Buffer.from('<rss><channel><item><title>Café</title></item></channel></rss>')).entries[0]?.title,
    ).to.equal('Café');
  });

  it('believes the mark, then the header, then the document; without any it takes UTF-8 or Windows-1252', () => {
    const feed = (declaration: string): string =>
      `${declaration}<rss><channel><item><title>Café</title></item></channel></rss>`;
    const titleOf = (source: Uint8Array, contentType?: string) => parseFeed({ source, contentType }).entries[0]?.title;
    const latin = Buffer.from(feed(''), 'latin1');
    const declared = '<?xml version="1.0" encoding="utf-16"?>';
    expect(titleOf(latin, 'text/xml; charset=iso-8859-1')).to.equal('Café');
    expect(titleOf(latin)).to.equal('Café');
    expect(titleOf(Buffer.from(feed(declared), 'utf16le'))).to.equal('Café');
    expect(titleOf(Buffer.from(feed(declared), 'utf16le').swap16())).to.equal('Café');
    expect(titleOf(Buffer.from(`\ufeff${feed('')}`), 'text/xml; charset=iso-8859-1')).to.equal('Café');
    expect(titleOf(Buffer.from(feed(declared)), 'text/xml; charset="utf-8"')).to.equal('Café');
    expect(titleOf(gzipSync(latin), 'text/xml; charset=iso-8859-1')).to.equal('Café');
    expect(() => titleOf(latin, 'text/xml; charset=utf-7')).to.throw(DocumentError, 'utf-7');
    expect(() => titleOf(Buffer.from('<\0\0\0r\0\0\0'))).to.throw(DocumentError, 'UTF-32');
  });

  it('keeps entries without id, link and title, and entries with one title', () => {
    const item = (inner: string): string => `<item>${inner}</item>`;
    const texts = ['First', 'Second'].map((text) => item(`<description>${text}</description>`));
    const titles = ['a', 'b'].map((text) => item(`<title>News</title><description>${text}</description>`));
    const { entries } = readFeed(
      `<rss><channel>${[...texts, ...titles, item('<title>One</title>')].join('')}</channel></rss>`,
    );
    expect(entries.map(({ title, summary }) => title || summary)).to.deep.equal([
      'First',
      'Second',
      'News',
      'News',
      'One',
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(5);
    expect(entries[4]?.id).to.equal('One');
  });

  it('reads dates of any zone by its name, and those without one in UTC', () => {
    for (const [text, expected] of [
      ['Fri, 20 Nov 2026 10:00:00 CET', '2026-11-20T09:00:00Z'],
      ['Sonntag, 22 Nov 2026 10:00:00 Etc/GMT', '2026-11-22T10:00:00Z'],
      ['20 Nov 2026 10:00', '2026-11-20T10:00:00Z'],
      ['2026-11-20T10:00:00', '2026-11-20T10:00:00Z'],
      ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00Z'],
      ['20 Nov 2026 10:00:00 EST', '2026-11-20T15:00:00Z'],
    ] as const) {
      const [entry] = readFeed(
        `<rss><channel><item><title>A</title><pubDate>${text}</pubDate></item></channel></rss>`,
      ).entries;
      expect(entry?.published, text).to.equal(Date.parse(expected));
    }
    const [none] = readFeed(
      '<rss><channel><item><title>A</title><pubDate>22013</pubDate></item></channel></rss>',
    ).entries;
    expect(none?.published).to.equal(null);
  });

  it('shows the characters that references to Windows-1252 mean', () => {
    expect(readFeed('<rss><channel><item><title>don&#146;t</title></item></channel></rss>').entries[0]?.title).to.equal(
      'don’t',
    );
  });

  it('expands no entities that a document defines itself', () => {
    const bomb =
      '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&b;&x;</title></item></channel></rss>';
    expect(readFeed(bomb).entries[0]?.title).to.not.match(/aaaa|root/);
  });

  it('skips empty entries and limits summaries', () => {
    const { entries } = readFeed(
      `<rss><channel><item></item><item><title>A</title><description>${'word '.repeat(10_000)}</description></item></channel></rss>`,
    );
    expect(entries).to.have.length(1);
    expect(entries[0]?.summary.length).to.equal(10_000);
  });

  it('refuses a text that is not a feed', () => {
    for (const text of ['', '<html><body>Hello</body></html>', '{"items": []}'])
      expect(() => readFeed(text)).to.throw(DocumentError, 'not a feed');
  });
});
