import { expect } from 'chai';
import { pagedResponse } from '#plugin-api';

describe('a page of a collection', () => {
  const headers = (page: number, total: number) =>
    pagedResponse([1], {
      total,
      url: 'http://site.test/wp-json/shop/v1/orders',
      request: { params: { page, per_page: 10 }, query: { page: String(page), state: ['open', 'paid'] } },
    }).headers;

  it('has the total, the number of pages, and links to the pages beside it that repeat the query', () => {
    const link = (page: number, relation: string): string =>
      `<http://site.test/wp-json/shop/v1/orders?page=${page}&state%5B0%5D=open&state%5B1%5D=paid>; rel="${relation}"`;
    expect(headers(2, 25)).to.deep.equal({
      'X-WP-Total': '25',
      'X-WP-TotalPages': '3',
      Link: `${link(1, 'prev')}, ${link(3, 'next')}`,
    });
    expect(headers(9, 25)['Link']).to.equal(link(3, 'prev'));
    expect(headers(1, 10)).to.deep.equal({ 'X-WP-Total': '10', 'X-WP-TotalPages': '1' });
  });
});
