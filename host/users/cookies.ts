/** Value of a cookie in a `Cookie` header, or null. */
export function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined || !header.includes(name)) return null;
  for (const pair of header.split(';')) {
    const [key = '', value = ''] = pair.split('=', 2);
    if (key.trim() === name) return value.trim();
  }
  return null;
}
