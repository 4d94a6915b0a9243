import { expect } from 'chai';
import { readDocument } from '../../../../plugins/svc/kit/documents.ts';
import { documents } from '../../../helpers/documents.ts';
import { failureOf } from '../../../helpers/failure-of.ts';

const read = async (rtf: string): Promise<string> =>
  (await readDocument({ documents }, { name: 'a.rtf', bytes: Buffer.from(rtf, 'latin1') })).text;

describe('an RTF file', () => {
  it('has headings, paragraphs and tables, without what is hidden or code', async () => {
    const rtf = [
      '{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fcharset0 Arial;}}{\\stylesheet{\\s1 heading 1;}}{\\info{\\title no}}',
      '{\\*\\generator no;}{\\pict\\pngblip 89504e47}',
      '\\pard\\outlinelevel0 Delivery\\par',
      '\\pard We {\\b ship} {\\v hidden}{\\deleted gone}to {\\field{\\*\\fldinst HYPERLINK "https://example.com"}{\\fldrslt all}}\\line countries\\emdash daily.\\par',
      '\\trowd\\pard\\intbl Country\\cell Days\\cell\\row',
      '\\trowd\\pard\\intbl Japan\\par (Tokyo)\\cell 5\\cell\\row',
      '\\pard Free \\{today\\}.}',
    ].join('\r\n');
    expect(await read(rtf)).to.equal(
      '# Delivery\n\nWe ship to all\ncountries—daily.\n\n| Country | Days |\n| --- | --- |\n| Japan (Tokyo) | 5 |\n\nFree {today}.',
    );
  });

  it('is read in the encodings of its fonts and in Unicode', async () => {
    const rtf =
      "{\\rtf1\\ansi\\ansicpg1250{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}}\\f0 \\'9elu\\'9d {\\f1 \\'cf\\'f0\\'e8} {\\f2 \\'83\\'65\\'83\\'58} \\u8364\\'80 \\uc2\\u252 ue{\\uc0\\u-10179 \\u-8704 } end\\u55357 ?}";
    expect(await read(rtf)).to.equal('žluť При テス € ü😀 end\ufffd');
  });

  it('that nests too deeply is refused', async () => {
    expect(await failureOf(read(`{\\rtf1 ${'{'.repeat(2_000)}`))).to.match(/nested too deeply/);
    expect(await read(`{\\rtf1 a${'\\par'.repeat(100_000)}\\bin999999999 b`)).to.equal('a');
  });
});
