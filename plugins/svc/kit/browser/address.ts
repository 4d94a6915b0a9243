const folder = '/svc-widget/v1/';

/**
 * The REST root a script came from, without a slash at its end: `https://site/wp-json`, or `https://site/?rest_route=`
 * where the site has plain addresses. Null for a script that is not the widget's.
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

/** Address of a route below the root. */
export function routeAddress(root: string, route: string): string {
  return root + (root.includes('?') ? encodeURIComponent(route) : route);
}
