import { expect } from 'chai';
import { RestError, type DocumentsApi } from '#plugin-api';
import { createSanitizer } from '../../host/content/html/sanitizer.ts';
import { sanitizeComment, sanitizeHtml } from '../../host/content/html/sanitize.ts';
import { documents as opened } from '../helpers/documents.ts';
import { failureOf } from '../helpers/failure-of.ts';

describe('sanitizing in a thread', () => {
  let queues: (string | undefined)[] = [];
  const documents: DocumentsApi = {
    read(init) {
      queues.push(init.queue);
      return opened.read(init);
    },
  };
  beforeEach(() => (queues = []));

  it('is for many tags and entities; the result is the same', async () => {
    const sanitizer = createSanitizer(documents);
    for (const part of ['<b onclick=x>a</b>', '&lt;', '&', '<script>x</script>', '<!-- wp:p -->'])
      for (const [count, isApart] of [
        [100, false],
        [4_000, true],
      ] as const) {
        queues = [];
        const html = part.repeat(count);
        expect(await sanitizer.html(html), part).to.equal(await sanitizeHtml(html));
        expect(await sanitizer.comment(html), part).to.equal(await sanitizeComment(html));
        expect(queues).to.deep.equal(isApart ? ['site', 'visitors'] : []);
      }
  });

  it('is for many declarations of one style too', async () => {
    const sanitizer = createSanitizer(documents);
    const html = `<p style="${'color:red;'.repeat(4_000)}">a</p>`;
    expect(await sanitizer.html(html)).to.equal(await sanitizeHtml(html));
    expect(queues).to.deep.equal(['site']);
  });

  it('refuses what costs too much as without a thread', async () => {
    const sanitizer = createSanitizer(documents);
    for (const html of ['<i>'.repeat(100_001), '<div>'.repeat(5_000)]) {
      const [apart, here] = [await failureOf(sanitizer.html(html)), await failureOf(sanitizeHtml(html))];
      expect(apart)
        .to.be.instanceOf(RestError)
        .and.to.deep.include({ message: (here as RestError).message });
    }
    expect(queues).to.deep.equal(['site', 'site']);
  });
});
