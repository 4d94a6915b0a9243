import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { DocumentError } from '#plugin-api';
import { readDocument } from '../../../../plugins/svc/kit/documents.ts';
import { documents } from '../../../helpers/documents.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { makeDocx, makeXlsx, makeZip, relations } from '../../../helpers/make-zip.ts';

const read = async (name: string, bytes: Uint8Array): Promise<string> =>
  (await readDocument({ documents }, { name, bytes: Buffer.from(bytes) }, { deadline: 60_000 })).text;

async function refusalOf(name: string, bytes: Uint8Array): Promise<string> {
  const error = (await failureOf(read(name, bytes))) as Error;
  expect(error, name).to.be.instanceOf(DocumentError);
  return error.message;
}

const text = (content: string): string => `<w:p><w:r><w:t>${content}</w:t></w:r></w:p>`;
/** XML whose letters do not repeat, so that it deflates as texts do. */
const varied = (length: number): string => {
  if (length > 1_000_000) return varied(1_000_000).repeat(length / 1_000_000);
  let state = 1;
  const words: string[] = [];
  for (let size = 0; size < length; size += 8) {
    state = (state * 48_271) % 2_147_483_647;
    words.push(state.toString(36).padEnd(7, 'x'));
  }
  return words.join(' ');
};

describe('a hostile file', () => {
  it('that unpacks to too much is refused', async () => {
    const zeros = await makeDocx(text('a'.repeat(50_000_000)));
    expect(zeros.length).to.be.lessThan(200_000);
    expect(await refusalOf('a.docx', zeros)).to.contain('unpacks to more than 100 MB');
    const sheet = `${varied(1_000)}${'a'.repeat(40_000)}`.repeat(1_500);
    const large = await makeXlsx({ One: sheet, Two: sheet });
    expect(await refusalOf('a.xlsx', large)).to.contain('unpacks to more than 100 MB');
    const parts = await makeDocx(text('a'));
    // The number of entries, twice at the end of a zip file.
    for (const at of [14, 12]) parts.writeUInt16LE(10_001, parts.length - at);
    expect(await refusalOf('a.docx', parts)).to.contain('10,000 parts');
  });

  it('whose sizes are not what it says is refused', async () => {
    const file = await makeDocx(text('a'.repeat(1_000)));
    const lying = Buffer.from(file);
    const size = Buffer.alloc(4);
    const body = Buffer.byteLength(
      `<?xml version="1.0"?><w:document><w:body>${text('a'.repeat(1_000))}</w:body></w:document>`,
    );
    size.writeUInt32LE(body);
    let changed = 0;
    for (let at = lying.indexOf(size); at >= 0; at = lying.indexOf(size, at + 4)) {
      lying.writeUInt32LE(10, at);
      changed += 1;
    }
    expect(changed).to.be.greaterThan(0);
    expect(await refusalOf('a.docx', lying)).to.contain('damaged');
  });

  it('that is broken, cut or of an old program is refused', async () => {
    const file = await makeDocx(text(varied(5_000)));
    expect(await refusalOf('a.docx', file.subarray(0, file.length - 30))).to.contain('damaged');
    const spoiled = Buffer.from(file);
    spoiled.fill(0xff, spoiled.indexOf('word/document.xml') + 20, spoiled.indexOf('word/document.xml') + 200);
    expect(await refusalOf('a.docx', spoiled)).to.contain('damaged');
    expect(await refusalOf('a.xlsx', Buffer.from('not a zip file'))).to.contain('damaged');
    expect(await refusalOf('a.docx', await makeZip({ 'a.exe': 'MZ' }))).to.contain('not a document');
    const compound = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2_000)]);
    expect(await refusalOf('a.docx', compound)).to.contain('old program');
    compound.write('EncryptedPackage', 600, 'utf16le');
    expect(await refusalOf('a.docx', compound)).to.contain('password');
    const locked = { 'META-INF/manifest.xml': '<manifest:encryption-data/>', 'content.xml': 'x' };
    expect(await refusalOf('a.odt', await makeZip(locked))).to.contain('password');
  });

  it('that nests too deeply is refused', async () => {
    expect(await refusalOf('a.docx', await makeDocx('<w:tbl><w:tr><w:tc>'.repeat(1_000)))).to.contain('nested');
    expect(await refusalOf('a.json', Buffer.from('['.repeat(200_000) + ']'.repeat(200_000)))).to.contain('nested');
    const html = { 'META-INF/container.xml': '<rootfile full-path="a.opf"/>', 'a.opf': '<package/>' };
    expect(await refusalOf('a.epub', await makeZip(html))).to.contain('no text');
  });

  it('with more than a million cells is refused, and one with a cell far away is read', async () => {
    const cells = `<row>${'<c><v>1</v></c>'.repeat(1_000)}</row>`.repeat(1_001);
    expect(await refusalOf('a.xlsx', await makeXlsx({ One: varied(1_000_000) + cells }))).to.contain('1,000,000 cells');
    const far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>';
    expect(await read('a.xlsx', await makeXlsx({ One: far }))).to.equal('# One\n\n1\n\n2');
    const diagonal = Array.from(
      { length: 16_000 },
      (_, at) =>
        `<row r="${String(at + 1)}"><c r="${columnName(at)}1"><v>${String(at)}</v></c><c r="XFD1"><v>0</v></c></row>`,
    );
    expect((await read('a.xlsx', await makeXlsx({ One: diagonal.join('') }))).length).to.be.lessThan(1_000_000);
    const repeated = `<office:body><office:spreadsheet><table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body>`;
    expect(await refusalOf('a.ods', await makeZip({ 'content.xml': repeated }))).to.contain('1,000,000 cells');
  });

  it('whose cells share one long text is refused', async () => {
    const rows = `<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`.repeat(100);
    const shared = { 'xl/sharedStrings.xml': `<sst><si><t>${varied(1_000_000)}</t></si></sst>` };
    expect(await refusalOf('a.xlsx', await makeXlsx({ One: rows }, shared))).to.contain('20 million characters');
  });

  it('that declares entities, links out or has macros is read without them', async () => {
    const entities =
      '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>';
    const file = await makeZip({
      '_rels/.rels': relations({ rId1: ['officeDocument', 'word/document.xml'] }),
      'word/document.xml': `${entities}<w:document>${text('before &b; &f; after')}</w:document>`,
      'word/vbaProject.bin': 'Sub AutoOpen()',
      'word/_rels/document.xml.rels':
        '<Relationships><Relationship Id="a" Type="x/header" TargetMode="External" Target="http://127.0.0.1:1/a"/><Relationship Id="b" Type="x/header" Target="../../../../etc/passwd"/></Relationships>',
    });
    expect(await read('a.docm', file)).to.equal('before &b; &f; after');
  });

  it('with a huge attribute, name or text is read or refused', async () => {
    const attribute = await makeDocx(`<w:p x="${varied(5_000_000)}"/>${text('end')}`);
    expect(await read('a.docx', attribute)).to.equal('end');
    expect(await refusalOf('a.docx', await makeDocx(text(varied(21_000_000))))).to.contain('20 million characters');
    expect(await read('a.docx', await makeDocx(`<${'w'.repeat(500_000)}>${text('end')}`))).to.equal('end');
  });

  it('that was deflated in another way is read or refused, and the next one is read', async () => {
    const raw = deflateRawSync(Buffer.from('x'));
    expect(await refusalOf('a.docx', Buffer.concat([Buffer.from('PK\x03\x04'), raw]))).to.contain('damaged');
    expect(await read('a.docx', await makeDocx(text('next')))).to.equal('next');
  });
});

/** 27 -> `AB`. */
function columnName(at: number): string {
  const letter = String.fromCharCode(65 + (at % 26));
  return at < 26 ? letter : columnName(Math.floor(at / 26) - 1) + letter;
}
