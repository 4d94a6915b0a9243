import { isUrl, type RestRequest } from '#plugin-api';

/** A text parameter; empty when it is missing or not a text. */
export function textParam({ params }: Pick<RestRequest, 'params'>, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

const maxUrlLength = 2000;

/**
 * The page that the visitor is on, as the page reports it. Empty unless it is a web address, which is safe to link to.
 *
 * @param limit Characters; longer addresses are cut.
 */
export function pageUrlParam(request: Pick<RestRequest, 'params'>, limit = maxUrlLength): string {
  const given = textParam(request, 'page_url').slice(0, limit);
  return /^https?:\/\//i.test(given) && isUrl(given) ? given : '';
}
