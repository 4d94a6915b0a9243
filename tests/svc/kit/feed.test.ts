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
        created: null,
      },
      {
        id: 'https://example.com/tea?a=1&b=2',
        title: 'Tea',
        url: 'https://example.com/tea?a=1&b=2',
        summary: 'Leaves The whole text',
        content: 'Leaves The whole text',
        published: null,
        updated: null,
        created: null,
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
        created: null,
      },
      {
        ...{ id: 'urn:uuid:2', title: 'A slanted title', url: '', summary: 'One Two', content: 'One Two' },
        ...{ published: null, updated: null, created: null },
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

  it('keeps the ids of entries that earlier versions read', () => {
    const { entries } = readFeed(`<rss><channel>
      <item><guid>a</guid><link>https://example.com/a</link></item><item rdf:about="b"><title>B</title></item>
      <item><link>https://example.com/c</link><title>C</title></item><item><title>D</title><description>d</description></item>
      <item><title>E</title><description>one</description></item>
      <item><title>E</title><description>two</description><pubDate>20 Nov 2026 10:00 GMT</pubDate></item>
      <item><description>Text</description><dc:date>2026-11-20</dc:date></item>
      <item><description>Text</description><content:encoded>Long</content:encoded></item>
      <item><summary>S</summary><description>T</description><pubDate>2026년 11월 20일</pubDate></item></channel></rss>`);
    // Automations know their items by these: a change here queues every entry of a feed once more.
    expect(entries.map(({ id }) => id.replace(/^(sha256:.{12}).*/, '$1'))).to.deep.equal([
      ...['a', 'b', 'https://example.com/c', 'D'],
      ...[
        'sha256:a510b037cc6a',
        'sha256:4a9ee1b6ded4',
        'sha256:36a01dd50498',
        'sha256:dd4e7d033429',
        'sha256:cf3da0bba4ea',
      ],
    ]);
  });

  it('keeps entries that have nothing but a date or a file, each with an id', () => {
    const { entries } = readFeed(
      '<rss><channel><item><pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate></item><item><enclosure url="https://example.com/1.mp3"/></item><item><enclosure url="https://example.com/2.mp3"/></item></channel></rss>',
    );
    expect(entries.map(({ published }) => published)).to.deep.equal([Date.UTC(2026, 10, 20, 10), null, null]);
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(3);
  });

  it('reads a summary and a description of RSS in their order, as summary and content', () => {
    for (const [inner, summary, content] of [
      ['<description>One</description><summary>Two</summary>', 'One', 'Two'],
      ['<summary>One</summary><description>Two</description>', 'One', 'Two'],
      ['<summary>One</summary><description> </description>', 'One', ''],
      [
        '<summary>One</summary><description>Two</description><content:encoded>All</content:encoded>',
        ...(['One', 'All'] as const),
      ],
    ] as const)
      expect(readFeed(`<rss><channel><item>${inner}</item></channel></rss>`).entries[0], inner).to.include({
        ...{ summary, content },
      });
  });

  it('reads the dates of writing, publication and change apart, and the last of several', () => {
    const { entries } = readFeed(
      '<feed><entry><id>1</id><created>2026-11-01T00:00:00Z</created><issued>2026-11-02T00:00:00Z</issued><modified>2026-11-03T00:00:00Z</modified><modified>2026-11-04T00:00:00Z</modified></entry></feed>',
    );
    expect(entries[0]).to.include({
      created: Date.UTC(2026, 10, 1),
      published: Date.UTC(2026, 10, 2),
      updated: Date.UTC(2026, 10, 4),
    });
  });

  it('reads RSS 1.0 with any prefix, and names of elements in capitals', () => {
    const { title, entries } = readFeed(
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:old="http://purl.org/rss/1.0/" xmlns:l="https://example.com/links"><old:channel><old:title>News</old:title></old:channel><old:item rdf:about="https://example.com/1"><l:link>no</l:link><old:title>One</old:title><old:link>https://example.com/one</old:link></old:item></rdf:RDF>',
    );
    expect([title, entries.length]).to.deep.equal(['News', 1]);
    expect(entries[0]).to.include({ id: 'https://example.com/1', title: 'One', url: 'https://example.com/one' });
    const capitals = readFeed(
      '<RSS><Channel><TITLE>News</TITLE><ITEM><Title>One</Title><GUID>1</GUID><PubDate>2026-11-20</PubDate></ITEM></Channel></RSS>',
    );
    expect(capitals.title).to.equal('News');
    expect(capitals.entries[0]).to.include({ id: '1', title: 'One', published: Date.UTC(2026, 10, 20) });
  });

  it('shows markup only where a feed escapes it twice', () => {
    const textOf = (content: string) =>
      readFeed(`<feed><entry><id>1</id>${content}</entry></feed>`).entries[0]?.content;
    expect(textOf('<content type="html"><div>A &lt;b&gt;bold&lt;/b&gt; word</div></content>')).to.equal('A bold word');
    expect(textOf('<content type="xhtml"><div>The &lt;b&gt; tag</div></content>')).to.equal('The <b> tag');
  });

  it('reads dates of any zone by its name, and those without one in UTC', () => {
    for (const [text, expected] of [
      ['Fri, 20 Nov 2026 10:00:00 CET', '2026-11-20T09:00:00Z'],
      ['Sonntag, 22 Nov 2026 10:00:00 Etc/GMT', '2026-11-22T10:00:00Z'],
      ['20 Nov 2026 10:00', '2026-11-20T10:00:00Z'],
      ['2026-11-20T10:00:00', '2026-11-20T10:00:00Z'],
      ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00Z'],
      ['20 Nov 2026 10:00:00 EST', '2026-11-20T15:00:00Z'],
      ['Παρ, 20 Νοέ 2026 10:00:00 EST', '2026-11-20T15:00:00Z'],
      ['Fr, 20. März 2026 10:00 MEZ', '2026-03-20T09:00:00Z'],
      ['20 de noviembre de 2026', '2026-11-20T00:00:00Z'],
      ['2026-július-3T9:15-05:00', '2026-07-03T14:15:00Z'],
      ['2026년 11월 20일  01:31:15', '2026-11-19T16:31:15Z'],
      ['2026-11-20 오후 11:23:17', '2026-11-20T14:23:17Z'],
      ['2026-11-20T10:00:00 +0200', '2026-11-20T08:00:00Z'],
      ['20261120T100000Z', '2026-11-20T10:00:00Z'],
      ['2026-324', '2026-11-20T00:00:00Z'],
      ['08-11-20', '2008-11-20T00:00:00Z'],
      ['991120', '1999-11-20T00:00:00Z'],
      ['-0811', '2008-11-01T00:00:00Z'],
      ['2026-011-20T10:00:00Z', '2026-11-20T10:00:00Z'],
      ['Mon, 01 Jan 0100 00:00:01 +0100', '0099-12-31T23:00:01Z'],
    ] as const) {
      const [entry] = readFeed(
        `<rss><channel><item><title>A</title><pubDate>${text}</pubDate></item></channel></rss>`,
      ).entries;
      expect(entry?.published, text).to.equal(Date.parse(expected));
    }
    for (const text of [
      '22013',
      '013',
      '26111',
      '2026-400',
      '2026-11-20T25:00:00Z',
      `20 Nov 2026 10:00${'0'.repeat(300)}`,
    ]) {
      const item = `<item><title>A</title><pubDate>${text}</pubDate></item>`;
      expect(readFeed(`<rss><channel>${item}</channel></rss>`).entries[0]?.published, text).to.equal(null);
    }
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
