import { RE2JS } from 're2js';

/** Characters of a text that a pattern is matched against. */
const maxText = 2_000;
/** In characters. */
const maxPattern = 500;
/** Instructions of a compiled pattern. With the longest text, a match takes at most about 50 ms. */
const maxProgram = 500;
const maxCached = 500;

/**
 * Compiled patterns. RE2 matches in time that is linear in the text: it has no look-around and no back-references, and
 * refuses patterns that need them. No visitor's message can block the process, as it could with a RegExp.
 */
const cache = new Map<string, RE2JS>();

/** @throws RE2JSSyntaxException for a pattern that is invalid or not linear */
function compiled(pattern: string): RE2JS {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const made = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  if (cache.size >= maxCached) cache.clear();
  cache.set(pattern, made);
  return made;
}

/** Why a pattern cannot be used, as the end of a sentence, or null. */
export function patternError(pattern: string): string | null {
  if (pattern.length > maxPattern) return `must have at most ${String(maxPattern)} characters`;
  try {
    if (compiled(pattern).programSize() <= maxProgram) return null;
    return 'is too large. Use smaller repetitions';
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : '';
    return (
      `is not a pattern that can be used (${reason}). Look-around such as (?=…) and back-references such as \\1 are ` +
      'not supported, because their matching can take forever'
    );
  }
}

/** Whether one of the patterns, one per line, matches anywhere in the first 2,000 characters. Case does not matter. */
export function matchesPattern(text: string, patterns: string): boolean {
  const beginning = text.slice(0, maxText);
  return patternLines(patterns).some((pattern) => {
    try {
      return compiled(pattern).matcher(beginning).find();
    } catch {
      // Patterns are checked when they are saved.
      return false;
    }
  });
}

export function patternLines(patterns: string): readonly string[] {
  return patterns
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
