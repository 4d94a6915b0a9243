/**
 * Whether a name matches a pattern in which `*` matches any characters. Without regular expressions: a pattern of many
 * stars must stay fast.
 */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of parts) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
