import { expect } from 'chai';
import { createStore, type StorageArea } from '../../../../../plugins/svc/modules/chatbots/browser/client/storage.ts';

/** The browser's storage as the standard defines it. */
function area(quota = Number.POSITIVE_INFINITY): StorageArea & { readonly stored: Map<string, string> } {
  const stored = new Map<string, string>();
  return {
    stored,
    getItem: (key) => stored.get(key) ?? null,
    setItem(key, value) {
      if (value.length > quota) throw new DOMException('full', 'QuotaExceededError');
      stored.set(key, value);
    },
    removeItem: (key) => void stored.delete(key),
  };
}

describe('what the widget stores in a browser', () => {
  it('is stored by site and bot, and removed when it is empty', () => {
    const storage = area();
    const seven = createStore(() => storage, 'svc-chatbot:https://site/wp-json:7:');
    const eight = createStore(() => storage, 'svc-chatbot:https://site/wp-json:8:');
    seven.set('token', 'secret');
    expect(seven.get('token')).to.equal('secret');
    expect(eight.get('token')).to.equal('');
    seven.set('token', '');
    expect([...storage.stored]).to.deep.equal([]);
  });

  it('is held in memory if storage is blocked', () => {
    const store = createStore(() => {
      throw new DOMException('blocked', 'SecurityError');
    }, 'x:');
    expect(store.get('token')).to.equal('');
    store.set('token', 'secret');
    expect(store.get('token')).to.equal('secret');
    store.set('token', '');
    expect(store.get('token')).to.equal('');
  });

  it('is the newer value if storage is full', () => {
    const storage = area(5);
    const store = createStore(() => storage, 'x:');
    store.set('draft', 'short');
    store.set('draft', 'much too long');
    expect(store.get('draft')).to.equal('much too long');
    store.set('draft', 'fits');
    expect(store.get('draft')).to.equal('fits');
    expect(storage.stored.get('x:draft')).to.equal('fits');
  });
});
