import { expect } from 'chai';
import { readDocument } from '../../../../plugins/svc/kit/documents.ts';
import { documents } from '../../../helpers/documents.ts';
import { makeDocx, makeZip } from '../../../helpers/make-zip.ts';

const read = async (name: string, content: string | Uint8Array): Promise<string> =>
  (await readDocument({ documents }, { name, bytes: Buffer.from(content) })).text;

const openDocument = (body: string, styles = ''): Promise<Buffer> =>
  makeZip({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content><office:automatic-styles><style:style style:name="no"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    'styles.xml': `<office:document-styles><office:master-styles>${styles}</office:master-styles></office:document-styles>`,
  });

describe('an OpenDocument file', () => {
  it('of text has headings, lists, tables and footers, without comments and deleted text', async () => {
    const cell = (text: string): string => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
    const body =
      '<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h text:outline-level="2">Delivery</text:h>' +
      '<text:p>We<text:s text:c="3"/>ship<office:annotation><text:p>really?</text:p></office:annotation><text:line-break/>daily.</text:p>' +
      '<text:list><text:list-item><text:p>Post</text:p></text:list-item><text:list-item><text:p>Courier</text:p></text:list-item></text:list>' +
      `<table:table><table:table-row>${cell('Country')}${cell('Days')}</table:table-row><table:table-row>${cell('Japan')}${cell('5')}</table:table-row></table:table></office:text>`;
    expect(
      await read('a.odt', await openDocument(body, '<style:footer><text:p>The shop</text:p></style:footer>')),
    ).to.equal(
      '## Delivery\n\nWe ship\ndaily.\n\n- Post\n- Courier\n\n| Country | Days |\n| --- | --- |\n| Japan | 5 |\n\nThe shop',
    );
  });

  it('of tables has each sheet, with cells and rows that are repeated', async () => {
    const cell = (text: string, repeated = 1): string =>
      `<table:table-cell table:number-columns-repeated="${String(repeated)}">${text === '' ? '' : `<text:p>${text}</text:p>`}</table:table-cell>`;
    const row = (cells: string, repeated = 1): string =>
      `<table:table-row table:number-rows-repeated="${String(repeated)}">${cells}</table:table-row>`;
    const sheet = (name: string, rows: string, style = ''): string =>
      `<table:table table:name="${name}" table:style-name="${style}">${rows}</table:table>`;
    const rows =
      row(cell('', 2) + cell('Thing') + cell('Price', 2)) +
      row(cell('', 2) + cell('Van') + cell('9') + cell('', 16_000), 2) +
      row(cell('', 16_384), 1_048_000) +
      row(cell('Total'));
    const body = `<office:spreadsheet>${sheet('Prices', rows)}${sheet('Secret', row(cell('x')), 'no')}</office:spreadsheet>`;
    expect(await read('a.ods', await openDocument(body))).to.equal(
      '# Prices\n\n| Thing | Price | Price |\n| --- | --- | --- |\n| Van | 9 |\n| Van | 9 |\n\nTotal',
    );
  });

  it('of slides has a heading for each', async () => {
    const frame = (kind: string, text: string): string =>
      `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
    const body = `<office:presentation><draw:page>${frame('title', 'Delivery')}${frame('outline', 'Daily')}</draw:page><draw:page>${frame('outline', 'Free')}</draw:page></office:presentation>`;
    expect(await read('a.odp', await openDocument(body))).to.equal('# Slide 1: Delivery\n\nDaily\n\n# Slide 2\n\nFree');
  });
});

describe('a file of another format', () => {
  it('of a book has its chapters in the order of reading', async () => {
    const book = {
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
      'OPS/book.opf':
        '<package><dc:title>The  van</dc:title><manifest><item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/><item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="a"/></spine></package>',
      'OPS/one.xhtml': '<html><head><title>x</title></head><body><h1>One</h1><p>It drove.</p></body></html>',
      'OPS/two b.xhtml': '<html><body><h1>Two</h1><p>It stopped.</p></body></html>',
    };
    expect(await readDocument({ documents }, { name: 'a.epub', bytes: await makeZip(book) })).to.deep.include({
      title: 'The van',
      text: '# One\n\nIt drove.\n\n# Two\n\nIt stopped.',
    });
    const locked = {
      ...book,
      'META-INF/encryption.xml': '<encryption><CipherReference URI="OPS/one.xhtml"/></encryption>',
    };
    await read('a.epub', await makeZip(locked)).then(
      () => expect.fail(),
      (error: unknown) => expect(error).to.match(/protected against copying/),
    );
  });

  it('of a message has its subject, names and text, and the names of attachments', async () => {
    const message = [
      'From: =?utf-8?q?J=C3=BCrgen?= <juergen@example.com>',
      'To: shop@example.com, Ada <ada@example.com>',
      'Subject: Where is',
      ' my van?',
      'Date: Mon, 31 Mar 2025 10:00:00 +0200',
      'Content-Type: multipart/mixed; boundary="x"',
      '',
      '--x',
      'Content-Type: text/html; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>It is f=FCnf days late.</p><script>alert(1)</script>',
      '--x',
      'Content-Type: application/pdf; name="order.pdf"',
      'Content-Disposition: attachment; filename="order.pdf"',
      '',
      'x',
      '--x--',
    ].join('\r\n');
    expect(await read('a.eml', message)).to.equal(
      '# Where is my van?\n\nFrom: Jürgen <juergen@example.com>\nTo: shop@example.com, Ada <ada@example.com>\nDate: 2025-03-31T08:00:00.000Z\nAttachments: order.pdf\n\nIt is fünf days late.',
    );
  });

  it('of subtitles has paragraphs with their time', async () => {
    const srt =
      '1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>We ship</i>\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000\r\ndaily.\r\n\r\n3\r\n00:01:05,000 --> 00:01:06,000\r\n- Free?\r\n';
    expect(await read('a.srt', srt)).to.equal('[00:00:01] We ship\ndaily.\n\n[00:01:05] - Free?');
    const vtt =
      'WEBVTT\n\nNOTE not\nthis\n\nSTYLE\n::cue {}\n\nfirst\n00:02.000 --> 00:03.000 align:start\n<v.loud Ada>Hello &amp; welcome\n';
    expect(await read('a.vtt', vtt)).to.equal('[00:00:02] Ada: Hello & welcome');
  });

  it('of CSV is a table, and of JSON its values with their names', async () => {
    expect(await read('a.csv', 'Thing;Price\nVan;"9;5"\n\nBus;')).to.equal(
      '| Thing | Price |\n| --- | --- |\n| Van | 9;5 |\n| Bus |',
    );
    expect(await read('a.tsv', 'a\tb\n1\t2')).to.equal('| a | b |\n| --- | --- |\n| 1 | 2 |');
    const json = {
      shop: 'Vans',
      open: true,
      days: [1, 2],
      address: { city: 'Bonn' },
      things: [{ name: 'Van' }, { name: 'Bus' }],
    };
    expect(await read('a.json', JSON.stringify(json))).to.equal(
      'shop: Vans\nopen: true\n\ndays: 1, 2\n\naddress.city: Bonn\n\nthings.name: Van\n\nthings.name: Bus',
    );
    expect(await read('a.json', '{"a":1}\n{"a":2}')).to.equal('{"a":1}\n{"a":2}');
  });

  it('is read as what it is, whatever its extension says', async () => {
    const word = await makeDocx('<w:p><w:r><w:t>Words</w:t></w:r></w:p>');
    for (const name of ['a.docx', 'a.docm', 'a.xlsx', 'a.pdf', 'a.txt'])
      expect(await read(name, word), name).to.equal('Words');
  });
});
