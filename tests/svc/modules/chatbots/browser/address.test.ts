import { expect } from 'chai';
import { restRootOf, routeAddress } from '../../../../../plugins/svc/kit/browser/address.ts';
import { uuid } from '../../../../../plugins/svc/kit/browser/uuid.ts';
import { withDefaults } from '../../../../../plugins/svc/modules/chatbots/browser/client/texts.ts';

describe('what the widget derives', () => {
  it('is the REST root, from the address of its script', () => {
    expect(restRootOf('https://site.example/wp-json/svc-widget/v1/widget.js?v=1#x')).to.equal(
      'https://site.example/wp-json',
    );
    expect(restRootOf('https://site.example/blog/wp-json/svc-widget/v1/widget.js')).to.equal(
      'https://site.example/blog/wp-json',
    );
    expect(restRootOf('https://site.example/?rest_route=%2Fsvc-widget%2Fv1%2Fwidget.js')).to.equal(
      'https://site.example/?rest_route=',
    );
    expect(restRootOf('https://cdn.example/combined.js')).to.equal(null);
    expect(restRootOf('')).to.equal(null);
  });

  it('is the address of a route, also without pretty permalinks', () => {
    expect(routeAddress('https://site.example/wp-json', '/svc/v1/x')).to.equal('https://site.example/wp-json/svc/v1/x');
    expect(
      new URL(routeAddress('https://site.example/?rest_route=', '/svc/v1/x')).searchParams.get('rest_route'),
    ).to.equal('/svc/v1/x');
  });

  it('is an id for a message, also on a page without https', () => {
    const given = Object.getOwnPropertyDescriptor(crypto, 'randomUUID');
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
    try {
      const made = new Set(Array.from({ length: 100 }, uuid));
      expect(made.size).to.equal(100);
      expect(
        [...made].every((id) => /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id)),
      ).to.equal(true);
    } finally {
      if (given) Object.defineProperty(crypto, 'randomUUID', given);
      else Reflect.deleteProperty(crypto, 'randomUUID');
    }
  });

  it('are labels for empty texts', () => {
    const texts = withDefaults({ send: '', stop: 'Halt', footer: '' }, 'Aurora');
    expect(texts).to.include({ send: 'Send', stop: 'Halt', footer: '', title: 'Aurora' });
  });
});
