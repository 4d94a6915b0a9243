const folder = '/svc-widget/v1/';

/**
 * The REST root of a script's URL, without a trailing slash: `https://site/wp-json`, or `https://site/?rest_route=` on a site with
 * plain permalinks. Null for other scripts.
 */
export function restRootOf(source: string): string | null {
  let url: URL;
  try {
    url = new URL(source);
  } catch {
    return null;
  }
  const plain = url.searchParams.get('rest_route');
  if (plain?.startsWith(folder)) return `${url.origin}${url.pathname}?rest_route=`;
  const end = url.pathname.lastIndexOf(folder);
  return end < 0 ? null : url.origin + url.pathname.slice(0, end);
}

/** URL of a route below the root. */
export function routeAddress(root: string, route: string): string {
  return root + (root.includes('?') ? encodeURIComponent(route) : route);
}
