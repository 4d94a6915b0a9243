/**
 * The address of a request as express, REST and pages read it: it begins with a slash. An absolute form loses its origin, which
 * need not be a URL: the host of a request is never read from it.
 *
 * @param sent as the request line has it, without bytes above 127, which Node refuses
 */
export function requestAddress(sent: string): string {
  if (sent.startsWith('/')) return sent;
  const path = sent.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
