import { expect } from 'chai';
import { createStore, type StorageArea } from '../../../../../plugins/svc/modules/chatbots/browser/client/storage.ts';

/** The browser's storage, as far as the standard says what it does. */
function area(quota = Number.POSITIVE_INFINITY): StorageArea & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem(key, value) {
      if (value.length > quota) throw new DOMException('full', 'QuotaExceededError');
      kept.set(key, value);
    },
    removeItem: (key) => void kept.delete(key),
  };
}

describe('what the widget keeps in a browser', () => {
  it('is kept by site and bot, and taken away when it is empty', () => {
    const storage = area();
    const seven = createStore(() => storage, 'svc-chatbot:https://site/wp-json:7:');
    const eight = createStore(() => storage, 'svc-chatbot:https://site/wp-json:8:');
    seven.set('token', 'secret');
    expect(seven.get('token')).to.equal('secret');
    expect(eight.get('token')).to.equal('');
    seven.set('token', '');
    expect([...storage.kept]).to.deep.equal([]);
  });

  it('is kept in memory where storage is blocked', () => {
    const store = createStore(() => {
      throw new DOMException('blocked', 'SecurityError');
    }, 'x:');
    expect(store.get('token')).to.equal('');
    store.set('token', 'secret');
    expect(store.get('token')).to.equal('secret');
    store.set('token', '');
    expect(store.get('token')).to.equal('');
  });

  it('is the newer value where storage was full for it', () => {
    const storage = area(5);
    const store = createStore(() => storage, 'x:');
    store.set('draft', 'short');
    store.set('draft', 'much too long');
    expect(store.get('draft')).to.equal('much too long');
    store.set('draft', 'fits');
    expect(store.get('draft')).to.equal('fits');
    expect(storage.kept.get('x:draft')).to.equal('fits');
  });
});
