import { expect } from 'chai';
import { matchesSearch, pageRows, queryText, readIds, readList, readTextIds } from '#plugin-api';

describe('lists in memory', () => {
  const rows = [
    { name: 'key 10', used: 5 },
    { name: 'Key 2', used: null },
    { name: 'abc', used: 9 },
  ];
  const page = (query: Record<string, string>, count = rows.length) =>
    pageRows(readList({ query }, { sortable: ['name', 'used'], filters: {} }), rows.slice(0, count), (row, key) =>
      key === 'name' ? row.name : row.used,
    );

  it('are sorted by text as people count, and by number, without a value last in both directions', () => {
    expect(page({}).rows.map(({ name }) => name)).to.deep.equal(['abc', 'Key 2', 'key 10']);
    expect(page({ sort: 'used', order: 'asc' }).rows.map(({ used }) => used)).to.deep.equal([5, 9, null]);
    expect(page({ sort: 'used', order: 'desc' }).rows.map(({ used }) => used)).to.deep.equal([9, 5, null]);
  });

  it('are cut to a page that exists', () => {
    const many = Array.from({ length: 45 }, (_, index) => index);
    const at = (query: Record<string, string>) =>
      pageRows(readList({ query }, { sortable: ['number'], filters: {} }), many, (row) => row);
    expect(at({ page: '3' }).rows).to.deep.equal([40, 41, 42, 43, 44]);
    expect([at({ page: '9' }).state.page, at({ per_page: '100' }).rows.length]).to.deep.equal([3, 45]);
  });

  it('are searched without regard to case', () => {
    expect(['', 'B', 'x'].map((search) => matchesSearch(search, 'a', 'abc'))).to.deep.equal([true, true, false]);
    expect([queryText({ query: { s: ' a ' } }, 's'), queryText({ query: { s: ['a'] } }, 's')]).to.deep.equal(['a', '']);
  });

  it('take ids of checked rows that a column can hold, each once, and nothing else', () => {
    expect(readIds({ form: { ids: ['7', '7', '2147483648', '-1', '1.5', 'x', ' 8 '] } })).to.deep.equal([7, 8]);
    expect(readIds({ form: { ids: '1,2' } })).to.deep.equal([1, 2]);
    expect(() => readIds({ form: { ids: '99999999999' } })).to.throw('Select entries and an action first.');
  });

  it('take slugs of checked rows, each once, and nothing else', () => {
    expect(readTextIds({ form: { ids: ['a-b', 'a-b', '../c', 7] } })).to.deep.equal(['a-b']);
    expect(readTextIds({ form: { ids: 'a,b' } })).to.deep.equal(['a', 'b']);
    expect(() => readTextIds({ form: {} })).to.throw('Select entries and an action first.');
  });
});
