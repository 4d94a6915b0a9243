import { expect } from 'chai';
import type { SignedIn } from '#testing';
import { startReadingSite, type ReadingSite } from '../e2e/reading-site.ts';

/** Each form of each page that a link leads to, on a site where every page has something to show. */
describe('the forms of the admin', () => {
  let site: ReadingSite;
  let person: SignedIn;
  let pages: Map<string, string>;
  before(async function () {
    this.timeout(120_000);
    site = await startReadingSite();
    person = await site.host.signIn();
    pages = await crawl(person, site.host.url);
  });
  after(() => site.stop());

  it('are all sent with a stamp of what they show, but for those that check a version themselves', () => {
    const edited = [...pages].filter(([, text]) => text.includes('name="_shown"')).map(([path]) => path.split('?')[0]);
    for (const path of [
      'settings',
      'svc',
      'svc/budgets',
      'svc/bots/edit',
      'svc/ai-forms/edit',
      'svc/webhooks/endpoint',
      'users/edit',
    ])
      expect(edited, path).to.include(path);
    const unstamped = [...pages].flatMap(([path, text]) =>
      formsOf(text).flatMap(({ action, shown, html }) =>
        shown === null &&
        !html.includes('data-proposal') &&
        /<(textarea|select|input(?=[^>]*type="(text|number|url|email|checkbox|radio)"))[^>]*name="(?!_)/.test(html) &&
        action.includes('action=')
          ? [`${path.split('?')[0] ?? ''} ${action}`]
          : [],
      ),
    );
    expect(new Set(unstamped)).to.deep.equal(
      new Set(
        ['posts', 'pages'].flatMap((type) =>
          ['edit', 'new'].map((page) => `${type}/${page} /admin/${type}/${page}?action=save`),
        ),
      ),
    );
  });

  it('see no change where there is none, and each change of another', async function () {
    this.timeout(120_000);
    const wrong: unknown[] = [];
    const done = new Set<string>();
    for (const [path, text] of pages)
      for (const { action, nonce, shown } of formsOf(text)) {
        if (shown === null || done.has(action) || /save-view|preview/.test(action)) continue;
        done.add(action);
        const check = async (stamp: string) => {
          const body = new URLSearchParams({ _nonce: nonce, _shown: stamp, _check: '1' });
          const headers = { cookie: person.cookie, accept: 'application/json' };
          const response = await site.host.fetch(action, { method: 'POST', headers, body });
          return [response.status, response.status === 200 ? '' : await response.text()];
        };
        const [same, what] = await check(shown);
        const [name = ''] = [...new URLSearchParams(shown).keys()].filter((key) => !/^[?#]$/.test(key));
        const other = new URLSearchParams(shown);
        other.set(name, 'another');
        const [changed] = await check(other.toString());
        if (same !== 200 || changed !== 409) wrong.push([path, action, same, changed, what]);
      }
    expect(wrong).to.deep.equal([]);
    expect(done.size).to.be.greaterThan(40);
  });
});

/** Pages by their paths, of one page of each kind. */
async function crawl(person: SignedIn, url: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = [''];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = path.replace(/=[^&]*/g, '=');
    if ([...pages.keys()].some((known) => known.replace(/=[^&]*/g, '=') === kind)) continue;
    const { status, text } = await person.open(path);
    if (status !== 200) continue;
    pages.set(path, text);
    for (const [, link = ''] of decode(text)
      .replaceAll(`${url}/admin/`, '/admin/')
      .matchAll(/href="(?:\/admin\/|)((?:\?|[a-z])[^"#:]*)/g)) {
      const next = link.startsWith('?') ? (path.split('?')[0] ?? '') + link : link;
      if (
        /^(id|tab|part|edit|base|provider|kind)=/.test(next.split('?')[1] ?? 'id=') &&
        !/^(login|logout|assets)/.test(next)
      )
        waiting.push(next);
    }
  }
  return pages;
}

interface SentForm {
  readonly action: string;
  readonly nonce: string;
  readonly shown: string | null;
  readonly html: string;
}

function formsOf(text: string): SentForm[] {
  const main = text.slice(text.indexOf('<main'));
  return [...main.matchAll(/<form[^>]*method="post"[^>]*action="([^"]*)"[^]*?<\/form>/g)].map(
    ([html, action = '']) => ({
      html,
      action: decode(action).replace(/#.*/, ''),
      nonce: /name="_nonce" value="([^"]*)"/.exec(html)?.[1] ?? '',
      shown: decode(/name="_shown" value="([^"]*)"/.exec(html)?.[1] ?? '') || null,
    }),
  );
}

function decode(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
}
