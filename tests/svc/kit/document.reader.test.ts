import { expect } from 'chai';
import { DocumentError } from '#plugin-api';
import { createSystemClock } from '../../../host/clock.ts';
import { createDocuments, type Documents } from '../../../host/documents/documents.ts';
import type { DocumentFile, DocumentText } from '../../../plugins/svc/kit/document.reader.ts';
import { readDocument as readIn, type ReadDocumentInit } from '../../../plugins/svc/kit/documents.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { makeInflatingPdf, makePdf } from '../../helpers/make-pdf.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');

describe('a document', () => {
  let documents: Documents;

  before(() => {
    documents = createDocuments({ clock: createSystemClock(), log: silentLog });
  });

  after(() => documents.close());

  const readDocument = (file: DocumentFile, init?: ReadDocumentInit): Promise<DocumentText> =>
    readIn({ documents }, file, init);

  it('of text or Markdown is its text, whatever its encoding', async () => {
    expect(await readDocument({ name: 'a.MD', bytes: bytes('\ufeffintro\r\n# Größe\r\nMaße') })).to.deep.equal({
      title: 'Größe',
      text: 'intro\n# Größe\nMaße',
      pages: null,
    });
    expect((await readDocument({ name: 'a.txt', bytes: Buffer.from('Größe', 'latin1') })).text).to.equal('Größe');
    expect((await readDocument({ name: 'a.txt', bytes: Buffer.from('\ufeffGröße', 'utf16le') })).text).to.equal(
      'Größe',
    );
    expect(
      await readDocument({
        name: 'a.html',
        bytes: Buffer.from('<meta charset="iso-8859-1"><title>T</title><p>Größe', 'latin1'),
      }),
    ).to.deep.equal({ title: 'T', text: 'Größe', pages: null });
  });

  it('has the encoding of its header, of its own head, or one that is guessed', async () => {
    const russian = 'Доставка товаров по всей стране занимает от трёх до пяти рабочих дней. '.repeat(8).trim();
    const cp1251 = Buffer.from(
      [...russian].map((letter) => {
        const code = letter.charCodeAt(0);
        if (letter === 'ё') return 0xb8;
        return code < 128 ? code : code - 0x410 + 0xc0;
      }),
    );
    const textOf = async (file: Omit<DocumentFile, 'bytes'>, content: Uint8Array): Promise<string> =>
      (await readDocument({ ...file, bytes: Uint8Array.from(content) })).text;
    expect(await textOf({ name: 'a.txt' }, cp1251)).to.equal(russian);
    expect(await textOf({ name: 'a.txt' }, Buffer.from(russian, 'utf16le'))).to.equal(russian);
    expect(
      await textOf({ name: 'a.txt', contentType: 'text/plain; charset=windows-1251' }, cp1251.subarray(0, 8)),
    ).to.equal('Доставка');
    const head = `<!doctype html><!-- ${'x'.repeat(2_500)} --><meta charset="windows-1251"><p>`;
    expect(await textOf({ name: 'a.html' }, Buffer.concat([Buffer.from(head), cp1251.subarray(0, 8)]))).to.equal(
      'Доставка',
    );
  });

  it('of PDF has what is filled into its fields', async () => {
    const field = (name: string, rest: string): string =>
      `<< /Type /Annot /Subtype /Widget /Rect [50 50 200 70] /T (${name}) ${rest} >>`;
    const fields = [
      field('name', '/FT /Tx /V (Ada Lovelace)'),
      field('secret', '/FT /Tx /Ff 8192 /V (hunter2)'),
      field('agreed', '/FT /Btn /V /Yes /AS /Yes'),
    ];
    const form = Buffer.from(makePdf([[{ text: 'Name of the customer' }]])).toString('latin1');
    const { text } = await readDocument({
      name: 'form.pdf',
      bytes: Buffer.from(form.replace('/MediaBox', `/Annots [${fields.join(' ')}] /MediaBox`), 'latin1'),
    });
    expect(text).to.contain('Name of the customer').and.to.contain('Ada Lovelace');
    expect(text).to.not.match(/hunter2|Yes/);
  });

  it('of PDF has headings by font size, whole paragraphs, and no repeated headers or footers', async () => {
    const page = (number: number): { text: string; size?: number; gap?: number }[] => [
      { text: 'Handbook of the shop', size: 9 },
      { text: `Chapter ${String(number)}`, size: 20, gap: 20 },
      { text: 'How we ship', size: 14, gap: 12 },
      { text: 'We ship to every country of the world, and pack with care and with pa-', gap: 12 },
      { text: 'per. It takes five days.' },
      { text: 'Returns are free.', gap: 20 },
      { text: `Page ${String(number)}`, size: 9, gap: 400 },
    ];
    const pages: number[] = [];
    const {
      title,
      text,
      pages: count,
    } = await readDocument(
      { name: 'shop.pdf', bytes: makePdf([1, 2, 3, 4].map(page), 'The shop') },
      { onPage: (at) => pages.push(at) },
    );
    expect([title, count, pages]).to.deep.equal(['The shop', 4, [1, 2, 3, 4]]);
    expect(text.split('\n\n').slice(0, 5)).to.deep.equal([
      '# Chapter 1',
      '## How we ship',
      'We ship to every country of the world, and pack with care and with paper. It takes five days.',
      'Returns are free.',
      '# Chapter 2',
    ]);
    expect(text).not.to.contain('Handbook').and.not.to.contain('Page');
  });

  it('of PDF keeps a heading at the top of every page', async () => {
    const { text } = await readDocument({
      name: 'a.pdf',
      bytes: makePdf(
        [1, 2, 3, 4].map((number) => [
          { text: `Chapter ${String(number)}`, size: 18 },
          { text: `What chapter ${'abcd'[number - 1] ?? ''} says goes on for a while.` },
          { text: 'And ends differently each time, as texts do.' },
        ]),
      ),
    });
    expect(text.split('\n\n').filter((block) => block.startsWith('#'))).to.deep.equal([
      '# Chapter 1',
      '# Chapter 2',
      '# Chapter 3',
      '# Chapter 4',
    ]);
  });

  it('that cannot be read says what to do', async () => {
    const messageOf = async (name: string, content: Uint8Array): Promise<string> => {
      const error = (await failureOf(readDocument({ name, bytes: content }))) as Error;
      expect(error).to.be.instanceOf(DocumentError);
      return error.message;
    };
    expect(await messageOf('a.doc', bytes('x'))).to.contain('.docx');
    expect(await messageOf('noending', bytes('x'))).to.contain('.txt');
    expect(await messageOf('a.txt', bytes('  \n'))).to.contain('no text');
    expect(await messageOf('a.txt', Buffer.from([1, 0, 2, 0, 255]))).to.contain('binary');
    expect(await messageOf('a.pdf', bytes('hello'))).to.contain('not a PDF');
    expect(await messageOf('a.pdf', bytes('%PDF-1.4 nothing more'))).to.contain('damaged');
    expect(await messageOf('a.pdf', makePdf([[], []])))
      .to.contain('OCR')
      .and.to.not.contain('only images');
  });

  it('of PDF may not inflate to more than fits into memory', async () => {
    const bomb = makeInflatingPdf({ megabytes: 80, pages: 20, operator: ' ' });
    expect(bomb.length).to.be.lessThan(100_000);
    const small = createDocuments({ clock: createSystemClock(), log: silentLog, memory: 64 });
    const error = await failureOf(readIn({ documents: small }, { name: 'a.pdf', bytes: bomb }, { deadline: 50_000 }));
    expect(error).to.include({ name: 'DocumentError', code: 'too_large' });
    expect((error as Error).message).to.contain('too much memory');
    await small.close();
  });

  it('of HTML that is nested deeply is refused, and the next one is read', async () => {
    const deep = Buffer.from('<div>'.repeat(2_000_000));
    const failure = await failureOf(readDocument({ name: 'a.html', bytes: deep }, { deadline: 3_000 }));
    expect(failure).to.include({ name: 'DocumentError' });
    expect((await readDocument({ name: 'a.txt', bytes: bytes('next') })).text).to.equal('next');
  });
});
