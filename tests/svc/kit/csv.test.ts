import { expect } from 'chai';
import { DocumentError } from '#plugin-api';
import { parseCsv } from '../../../plugins/svc/kit/csv.reader.ts';
import { leastProcessorTime } from '../../helpers/processor-time.ts';
import { csvLine } from '../../../plugins/svc/kit/csv.ts';

describe('reading CSV', () => {
  it('names the cells of each row by the first line', () => {
    expect(parseCsv('topic,keywords\r\nCoffee,"beans, mountains"\r\nTea,\r\n').rows).to.deep.equal([
      { topic: 'Coffee', keywords: 'beans, mountains' },
      { topic: 'Tea', keywords: '' },
    ]);
  });

  it('keeps doubled quotes, line breaks and delimiters within quotes', () => {
    expect(parseCsv('a,b\n"He said ""no"", twice","two\nlines"').rows).to.deep.equal([
      { a: 'He said "no", twice', b: 'two\nlines' },
    ]);
  });

  for (const [name, delimiter] of [
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['bars', '|'],
  ] as const) {
    it(`recognizes ${name} by the first line`, () => {
      const table = parseCsv(`a${delimiter}b${delimiter}c\n1,5${delimiter}"x${delimiter}y"${delimiter}3`);
      expect(table.delimiter).to.equal(delimiter);
      expect(table.rows).to.deep.equal([{ a: '1,5', b: `x${delimiter}y`, c: '3' }]);
    });
  }

  it('uses the delimiter that the file declares, and skips a byte order mark', () => {
    expect(parseCsv('\ufeffsep=;\r\na,b;c\r\n1;2')).to.deep.include({
      header: ['a,b', 'c'],
      rows: [{ 'a,b': '1', c: '2' }],
    });
  });

  it('names unnamed and duplicate columns', () => {
    expect(parseCsv('topic,,topic\n1,2,3,4').header).to.deep.equal(['topic', 'Column 2', 'topic (2)', 'Column 4']);
  });

  it('keeps names unique that look like its own', () => {
    expect(parseCsv('a,a (2),a,a,a (3)\n1').header).to.deep.equal(['a', 'a (2)', 'a (3)', 'a (4)', 'a (3) (2)']);
  });

  it('reads 500 columns of one name', () => {
    expect(parseCsv(`${'a,'.repeat(499)}a\n1`).header.at(-1)).to.equal('a (500)');
  });

  it('refuses more columns at once, however many', async () => {
    for (const columns of [501, 400_000]) {
      const text = `${'a,'.repeat(columns - 1)}a\n1`;
      const spent = await leastProcessorTime(async () =>
        expect(() => parseCsv(text)).to.throw(
          DocumentError,
          `The file has ${columns.toLocaleString('en-GB')} columns, but at most 500 are read.`,
        ),
      );
      expect(spent).to.be.below(1_000);
    }
  });

  it('refuses short lines below a long one that would fill the memory', () => {
    expect(() => parseCsv(`${','.repeat(499)}a\n${'a\n'.repeat(500_000)}`)).to.throw(
      DocumentError,
      'Split it into several',
    );
  });

  it('skips blank lines and fills in missing cells', () => {
    expect(parseCsv('a,b\n\n , \n1\n').rows).to.deep.equal([{ a: '1', b: '' }]);
  });

  it('reads a single column, and a column of any name', () => {
    expect(parseCsv('topic\none\ntwo').rows).to.deep.equal([{ topic: 'one' }, { topic: 'two' }]);
    expect(Object.keys(parseCsv('__proto__,a\nx,y').rows[0] ?? {})).to.deep.equal(['__proto__', 'a']);
  });

  it('reads what the service itself writes', () => {
    const cells = ['a,b', 'say "hi"', 'two\r\nlines', ''];
    expect(parseCsv(csvLine(['w', 'x', 'y', 'z']) + csvLine(cells)).rows).to.deep.equal([
      { w: 'a,b', x: 'say "hi"', y: 'two\r\nlines', z: '' },
    ]);
  });

  for (const text of ["x;=cmd|'/C calc'!A0", 'x\t=1+1', '=1', ' @sum', 'plain'])
    it(`quotes ${JSON.stringify(text)}, so that no delimiter of a spreadsheet starts a formula in it`, () => {
      expect(csvLine([text, 7])).to.match(/^"[^"]*",7\r\n$/);
      expect(csvLine([text])).not.to.match(/^"\s*[=@]/);
    });

  it('names the line of a quote that is not closed, and refuses an empty file', () => {
    expect(() => parseCsv('a,b\n1,2\n"3,4\n5,6')).to.throw(
      DocumentError,
      'Line 3: a quote is not closed. Close it, or write "" for a quote.',
    );
    expect(() => parseCsv('a,b\r\n\r\n1,"x\r\ny"\r\n"5" inch",2\r\n')).to.throw(
      DocumentError,
      'Line 5: text follows a closing quote. Delete it, or write "" for a quote.',
    );
    expect(parseCsv('a,b\n5" ,  "6 " \n').rows).to.deep.equal([{ a: '5"', b: '6' }]);
    expect(() => parseCsv(' \n')).to.throw(DocumentError, 'The file is empty');
  });

  it('reads a hundred thousand rows quickly', () => {
    expect(parseCsv(`a,b\n${'"x, y",z\n'.repeat(100_000)}`).rows).to.have.length(100_000);
  });
});
