import { expect } from 'chai';
import { parseForm } from '#plugin-api';

describe('parseForm', () => {
  const cases: readonly (readonly [string, string, unknown])[] = [
    ['plain fields', 'a=1&b=two+words&c=%C3%A4', { a: '1', b: 'two words', c: 'ä' }],
    ['nothing', '', {}],
    ['nested fields', 'a[b]=1&a[c][d]=2', { a: { b: '1', c: { d: '2' } } }],
    ['lists', 'a[]=1&a[]=2', { a: ['1', '2'] }],
    ['numbered lists', 'a[0]=x&a[1]=y', { a: ['x', 'y'] }],
    ['lists with gaps as objects', 'a[1]=x&a[3]=y', { a: { 1: 'x', 3: 'y' } }],
    ['lists of objects', 'a[0][b]=1&a[0][c]=2&a[1][b]=3', { a: [{ b: '1', c: '2' }, { b: '3' }] }],
    ['the last of a name given twice, as a switch with its hidden 0 needs', 'a=0&a=1', { a: '1' }],
    ['a group over a plain field', 'a=1&a[b]=2', { a: { b: '2' } }],
    ['brackets that do not close as part of the name', 'a[b=1&]c=2', { 'a[b': '1', ']c': '2' }],
    ['nothing of forbidden names', '__proto__=1&__proto__[x]=1&a[constructor]=1&a[prototype][b]=1&b=2', { b: '2' }],
    [
      'nothing deeper than eight',
      'a[b][c][d][e][f][g][h]=1&a[b][c][d][e][f][g][h][i]=1',
      { a: { b: { c: { d: { e: { f: { g: { h: '1' } } } } } } } },
    ],
  ];
  for (const [title, body, expected] of cases) {
    it(`reads ${title}`, () => expect(parseForm(body)).to.deep.equal(expected));
  }

  it('refuses more than 2,000 fields', () => {
    expect(
      Object.keys(parseForm(Array.from({ length: 2_000 }, (_field, index) => `f${index}=1`).join('&'))).length,
    ).to.equal(2_000);
    expect(() => parseForm('a[]=1&'.repeat(2_001)))
      .to.throw('2000 fields')
      .that.includes({ status: 400, code: 'rest_too_many_fields' });
  });
});
