import { isUrl, type RestRequest } from '#plugin-api';

/** A parameter that is a text; empty where it is none. */
export function text({ params }: Pick<RestRequest, 'params'>, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

const longestUrl = 2000;

/** The page the visitor is on, as the page says; empty: not an address of the web, which nobody should be made to click. */
export function pageUrl(request: Pick<RestRequest, 'params'>): string {
  const given = text(request, 'page_url').slice(0, longestUrl);
  return /^https?:\/\//i.test(given) && isUrl(given) ? given : '';
}
