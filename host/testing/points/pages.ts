import type { Subject } from './subject.ts';

/** Text that must never be in a page as it is. */
const mark = '<svc-mark';

export async function tryPages({ host, source }: Subject): Promise<string | undefined> {
  const pages = host.adminPages(source.manifest.slug);
  if (pages.length === 0) return 'The plugin has no admin pages.';
  const { cookie } = await host.signIn();
  const query = new URLSearchParams(
    Object.fromEntries(['id', 's', 'q', 'search', 'page', 'tab', 'name'].map((name) => [name, `"'>${mark}>`])),
  );
  for (const slug of pages) {
    const read = async (path: string) => {
      const response = await host.fetch(`/admin/${path}`, { headers: { cookie }, redirect: 'manual' });
      return { status: response.status, text: await response.text() };
    };
    const { status } = await read(slug);
    // A page about one object needs its id.
    if (status >= 500 || (status >= 400 && status !== 404)) throw new Error(`The page '${slug}' answered ${status}.`);
    const broken = await read(`${slug}?${query.toString()}`);
    if (broken.status >= 500) throw new Error(`The page '${slug}' answered ${broken.status} to a broken query.`);
    if (broken.text.includes(mark)) throw new Error(`The page '${slug}' shows part of its query without escaping it.`);
  }
  return undefined;
}

/** Violations to name in full. */
const mostShown = 5;

export async function tryAccessibility({ host, node, source, browser }: Subject): Promise<string | undefined> {
  const pages = host.adminPages(source.manifest.slug);
  if (pages.length === 0) return 'The plugin has no admin pages.';
  if (browser === null) return node === null ? 'No browser was given.' : 'The pages are those of SQLite.';
  const { findViolations } = await import('../accessibility.ts');
  const paths = pages.map((slug) => `/admin/${slug}`);
  const { cookie } = await host.signIn();
  const found = await findViolations({ browser, url: host.url, cookie, paths });
  if (found.length === 0) return undefined;
  throw new Error(`axe-core finds ${found.length} violations. ${found.slice(0, mostShown).join(' ')}`);
}
