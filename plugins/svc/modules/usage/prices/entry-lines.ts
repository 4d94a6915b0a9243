/** The lines where an entry of a list and its members begin, from 1. */
export interface EntryLines {
  readonly line: number;
  readonly members: Readonly<Record<string, number>>;
}

/** Lines of the objects in the JSON text of a list. The text must be valid JSON. */
export function entryLines(text: string): EntryLines[] {
  const entries: { line: number; members: Record<string, number> }[] = [];
  let line = 1;
  let depth = 0;
  for (const [token] of text.matchAll(/\n|"(?:[^"\\]|\\.)*"(?:\s*:)?|[[{\]}]|[^\s"[{\]},:]+/g)) {
    const entry = entries.at(-1);
    if (depth === 1 && token !== '\n' && token !== ']') entries.push({ line, members: {} });
    if (depth === 2 && entry && token.endsWith(':')) entry.members[memberName(token)] ??= line;
    if (token === '[' || token === '{') depth += 1;
    if (token === ']' || token === '}') depth -= 1;
    line += token.split('\n').length - 1;
  }
  return entries;
}

function memberName(token: string): string {
  return JSON.parse(token.slice(0, token.lastIndexOf(':'))) as string;
}

/** The line at which a JSON text stops being valid, or null when it is. */
export function invalidLine(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return lineOf(text, errorPosition(text));
  }
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/**
 * The position from which the text is no valid JSON. Engines word their errors differently, and some leave the position
 * out for short texts.
 */
function errorPosition(text: string): number {
  const open: string[] = [];
  let expects: 'value' | 'key' | 'colon' | 'end' = 'value';
  let position = 0;
  const token =
    /\s+|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y;
  let afterComma = false;
  for (;;) {
    token.lastIndex = position;
    const found = token.exec(text)?.[0];
    if (found === undefined) return position;
    position += found.length;
    if (/^\s/.test(found)) continue;
    const start = position - found.length;
    if (found === ']' || found === '}') {
      if (open.pop() !== (found === ']' ? '[' : '{') || afterComma || expects === 'colon') return start;
      expects = 'end';
    } else if (found === ',') {
      if (expects !== 'end' || open.length === 0) return start;
      expects = open.at(-1) === '{' ? 'key' : 'value';
      afterComma = true;
      continue;
    } else if (found === ':') {
      if (expects !== 'colon') return start;
      expects = 'value';
      afterComma = true;
      continue;
    } else if (expects === 'key') {
      if (!found.startsWith('"')) return start;
      expects = 'colon';
    } else if (expects !== 'value') return start;
    else if (found === '[' || found === '{') {
      open.push(found);
      expects = found === '{' ? 'key' : 'value';
    } else expects = 'end';
    afterComma = false;
  }
}
