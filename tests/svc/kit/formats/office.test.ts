import { expect } from 'chai';
import { readDocument } from '../../../../plugins/svc/kit/documents.ts';
import { documents } from '../../../helpers/documents.ts';
import { makeDocx, makeXlsx, makeZip, relations } from '../../../helpers/make-zip.ts';

const read = async (name: string, bytes: Uint8Array): Promise<{ title: string; text: string }> => {
  const { title, text } = await readDocument({ documents }, { name, bytes });
  return { title, text };
};
const run = (text: string, properties = ''): string => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content.startsWith('<') ? content : run(content)}</w:p>`;

describe('a Word file', () => {
  it('has headings by their style, lists with their numbers, and notes', async () => {
    const numbered = (level: number): string =>
      `<w:numPr><w:ilvl w:val="${String(level)}"/><w:numId w:val="7"/></w:numPr>`;
    const body = [
      paragraph('Handbook', '<w:pStyle w:val="T"/>'),
      paragraph('Delivery', '<w:pStyle w:val="Sub"/>'),
      paragraph(`${run('We ship ')}<w:r><w:tab/><w:t>daily</w:t><w:br/><w:t>and nightly.</w:t></w:r>`),
      paragraph('Pack', numbered(0)),
      paragraph('Carefully', numbered(1)),
      paragraph('Twice', numbered(1)),
      paragraph('Send', numbered(0)),
      paragraph('By post', '<w:numPr><w:numId w:val="8"/></w:numPr>'),
    ].join('');
    const style = (id: string, name: string, more = ''): string =>
      `<w:style w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
    const level = (at: number, format: string, text: string): string =>
      `<w:lvl w:ilvl="${String(at)}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
    const file = await makeDocx(body, {
      'word/_rels/document.xml.rels': relations({
        a: ['styles', 'styles.xml'],
        b: ['numbering', 'numbering.xml'],
        c: ['footnotes', 'footnotes.xml'],
        d: ['footer', 'footer1.xml'],
      }),
      'word/styles.xml': `<w:styles>${style('T', 'Title')}${style('H2', 'heading 2')}${style('Sub', 'Own', '<w:basedOn w:val="H2"/>')}</w:styles>`,
      'word/numbering.xml': `<w:numbering><w:abstractNum w:abstractNumId="1">${level(0, 'upperRoman', '%1.')}${level(1, 'decimal', '%1.%2')}</w:abstractNum><w:abstractNum w:abstractNumId="2">${level(0, 'bullet', '•')}</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="8"><w:abstractNumId w:val="2"/></w:num></w:numbering>`,
      'word/footnotes.xml': `<w:footnotes><w:footnote>${paragraph('By bicycle.')}</w:footnote></w:footnotes>`,
      'word/footer1.xml': `<w:ftr>${paragraph('Page of the shop')}</w:ftr>`,
    });
    expect(await read('a.docx', file)).to.deep.equal({
      title: 'Handbook',
      text: '# Handbook\n\n## Delivery\n\nWe ship daily\nand nightly.\n\n- I. Pack\n- I.1 Carefully\n- I.2 Twice\n- II. Send\n- By post\n\nBy bicycle.\n\nPage of the shop',
    });
  });

  it('has tables, in which each row says what it is about', async () => {
    const cell = (text: string, properties = ''): string =>
      `<w:tc><w:tcPr>${properties}</w:tcPr>${text === '' ? '<w:p/>' : paragraph(text)}</w:tc>`;
    const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`;
    const table = `<w:tbl>${row(cell('Country'), cell('Days'), cell('Price'))}${row(
      cell('Japan', '<w:vMerge w:val="restart"/>'),
      cell('5'),
      cell('9 | 12'),
    )}${row(cell('', '<w:vMerge/>'), cell('8', '<w:gridSpan w:val="2"/>'))}</w:tbl>`;
    const { text } = await read('a.docx', await makeDocx(paragraph('Prices') + table + paragraph('Taxes are extra.')));
    expect(text).to.equal(
      'Prices\n\n| Country | Days | Price |\n| --- | --- | --- |\n| Japan | 5 | 9 \\| 12 |\n| Japan | 8 |\n\nTaxes are extra.',
    );
  });

  it('leaves out what was deleted or hidden, codes of fields and copies for old programs', async () => {
    const body = paragraph(
      [
        run('Shown '),
        `<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>`,
        `<w:ins>${run('added')}</w:ins>`,
        run('hidden', '<w:vanish/>'),
        `<w:r><w:instrText>HYPERLINK "https://example.com"</w:instrText></w:r>`,
        `<mc:AlternateContent><mc:Choice><w:txbxContent>${paragraph('Box')}</w:txbxContent></mc:Choice><mc:Fallback>${paragraph('Box')}</mc:Fallback></mc:AlternateContent>`,
      ].join(''),
    );
    expect((await read('a.docx', await makeDocx(body))).text).to.equal('Box\n\nShown added');
  });
});

describe('an Excel file', () => {
  it('has a heading and the tables of each sheet, with numbers as people read them', async () => {
    const cell = (at: string, value: string | number, more = ''): string =>
      `<c r="${at}" ${more}><v>${String(value)}</v></c>`;
    const file = await makeXlsx(
      {
        Prices: [
          `<row r="1">${cell('B1', 0, 't="s"')}</row>`,
          `<row r="2">${cell('B2', 1, 't="s"')}${cell('D2', 2, 't="s"')}</row>`,
          `<row r="3"><c r="B3" t="inlineStr"><is><t>Van</t></is></c>${cell('D3', 45_747, 's="1"')}</row>`,
          `<row r="4">${cell('B4', '0.1234', 's="2"')}${cell('D4', 0.1 + 0.2)}</row>`,
          `<row r="9">${cell('A9', 1, 't="b"')}${cell('B9', '#N/A', 't="e"')}</row>`,
        ].join(''),
        'Hidden list': `<row r="1">${cell('A1', 7)}</row>`,
        Times: `<row>${cell('', 0.75, 's="3"')}<c><f>1+1</f></c>${cell('', 45_747.5, 's="1"')}</row>`,
      },
      {
        'xl/sharedStrings.xml':
          '<sst><si><t>Prices of 2025</t></si><si><r><t>Th</t></r><r><t>ing</t></r><rPh><t>kana</t></rPh></si><si><t>Since</t></si></sst>',
        'xl/styles.xml':
          '<styleSheet><numFmts><numFmt numFmtId="200" formatCode="[$-407]d\\. mmm yyyy"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="200"/><xf numFmtId="10"/><xf numFmtId="21"/></cellXfs></styleSheet>',
      },
    );
    expect((await read('a.xlsx', file)).text).to.equal(
      [
        '# Prices\n\nPrices of 2025',
        '| Thing | Since |\n| --- | --- |\n| Van | 2025-03-31 |\n| 12.34% | 0.3 |',
        '| TRUE | #N/A |\n| --- | --- |',
        '# Times',
        '| 18:00:00 | 2025-03-31 12:00:00 |\n| --- | --- |',
      ].join('\n\n'),
    );
  });
});

describe('a presentation', () => {
  it('has a heading for each slide in the order of showing, with tables and notes', async () => {
    const shape = (type: string, text: string): string =>
      `<p:sp><p:nvPr><p:ph type="${type}"/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const cell = (text: string): string => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
    const table = `<p:graphicFrame><a:tbl><a:tr>${cell('Country')}${cell('Days')}</a:tr><a:tr>${cell('Japan')}${cell('5')}</a:tr></a:tbl></p:graphicFrame>`;
    const slide = (content: string, show = '1'): string => `<p:sld show="${show}">${content}</p:sld>`;
    const file = await makeZip({
      '_rels/.rels': relations({ rId1: ['officeDocument', 'ppt/presentation.xml'] }),
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="b"/><p:sldId id="257" r:id="a"/><p:sldId id="258" r:id="c"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': relations({
        a: ['slide', 'slides/slide1.xml'],
        b: ['slide', 'slides/slide2.xml'],
        c: ['slide', 'slides/slide3.xml'],
      }),
      'ppt/slides/slide1.xml': slide(table + shape('sldNum', '2')),
      'ppt/slides/slide2.xml': slide(shape('body', 'We ship daily.') + shape('ctrTitle', 'Delivery')),
      'ppt/slides/slide3.xml': slide(shape('body', 'Not shown'), '0'),
      'ppt/slides/_rels/slide2.xml.rels': relations({ n: ['notesSlide', '../notesSlides/notesSlide1.xml'] }),
      'ppt/notesSlides/notesSlide1.xml': slide(shape('body', 'Say it twice.') + shape('sldNum', '1')),
    });
    expect((await read('a.pptx', file)).text).to.equal(
      '# Slide 1: Delivery\n\nWe ship daily.\n\nSay it twice.\n\n# Slide 2\n\n| Country | Days |\n| --- | --- |\n| Japan | 5 |',
    );
  });
});
