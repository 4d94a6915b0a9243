import { expect } from 'chai';
import { readDocument } from '../../../../plugins/svc/kit/documents.ts';
import { documents } from '../../../helpers/documents.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { makePdf, makePdfPage } from '../../../helpers/make-pdf.ts';

const read = async (bytes: Uint8Array): Promise<string> =>
  (await readDocument({ documents }, { name: 'a.pdf', bytes: Uint8Array.from(bytes) })).text;

const helvetica = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
/** A font of a character collection that is not embedded. */
const collection = (name: string, encoding: string): string =>
  `<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /${encoding} /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Any /CIDSystemInfo << /Registry (Adobe) /Ordering (${name}) /Supplement 2 >> /FontDescriptor << /Type /FontDescriptor /FontName /Any /Flags 4 /FontBBox [0 0 1 1] /ItalicAngle 0 /Ascent 1 /Descent 0 /CapHeight 1 /StemV 1 >> /DW 1000 >>] >>`;
const at = (x: number, shown: string): string => `BT /F1 12 Tf 1 0 0 1 ${String(x)} 700 Tm ${shown} Tj ET\n`;
const hex = (text: string): string =>
  `<${[...text].map((letter) => letter.charCodeAt(0).toString(16).padStart(4, '0')).join('')}>`;

describe('the text of a PDF', () => {
  it('has a space between pieces that are apart, in both directions', async () => {
    expect(await read(makePdfPage(at(50, '(Price)') + at(90, '(9)') + at(97, '(5)'), helvetica))).to.equal('Price 95');
    // As pages of Arabic or Hebrew are written: from the right.
    expect(await read(makePdfPage(at(200, '(Price)') + at(180, '(9)'), helvetica))).to.equal('Price 9');
  });

  it('has what is drawn twice to look bold once', async () => {
    expect(await read(makePdfPage(at(50, '(Bold)') + at(50.3, '(Bold)') + at(100, '(Bold)'), helvetica))).to.equal(
      'Bold Bold',
    );
  });

  it('has what a list of a form shows, not what it stores', async () => {
    const field =
      '<< /Type /Annot /Subtype /Widget /Rect [50 50 200 70] /T (size) /FT /Ch /Ff 131072 /Opt [[(s) (Small van)] [(l) (Large van)]] /V (l) >>';
    const form = Buffer.from(makePdf([[{ text: 'Your van' }]])).toString('latin1');
    expect(await read(Buffer.from(form.replace('/MediaBox', `/Annots [${field}] /MediaBox`), 'latin1'))).to.match(
      /Your van\s+Large van/,
    );
  });

  it('has the characters of Chinese, Japanese and Korean fonts that are not embedded', async () => {
    for (const [name, encoding, text] of [
      ['GB1', 'UniGB-UCS2-H', '知识库'],
      ['CNS1', 'UniCNS-UTF16-H', '知識庫'],
      ['Japan1', 'UniJIS-UCS2-H', 'テスト'],
      ['Korea1', 'UniKS-UCS2-H', '보안'],
    ] as const)
      expect(await read(makePdfPage(at(50, hex(text)), collection(name, encoding))), name).to.equal(text);
    // 90ms-RKSJ is Shift_JIS, and V writes from top to bottom.
    expect(await read(makePdfPage(at(50, '<834e838c>'), collection('Japan1', '90ms-RKSJ-V')))).to.equal('クレ');
  });

  it('that no font explains is refused', async () => {
    const font = collection('Identity', 'Identity-H');
    const error = await failureOf(read(makePdfPage(at(50, '<e001e002e003e004>'), font)));
    expect(error)
      .to.include({ name: 'DocumentError' })
      .and.to.match(/cannot be read/);
  });
});
