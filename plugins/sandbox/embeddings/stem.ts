/**
 * A word without its commonest endings, so that `indexes`, `indexed` and `index` are one. Light on purpose: parts of
 * words are compared as well.
 */
export function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const singular = word
    .replace(/'s?$/, '')
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x|z)es$/, '$1')
    .replace(/([^su'])s$/, '$1');
  return ending(singular).replace(/(?<=.{3})e$/, '');
}

function ending(word: string): string {
  for (const suffix of suffixes) {
    const stem = word.slice(0, -suffix.length);
    if (word.endsWith(suffix) && stem.length >= 3 && /[aeiouy]/.test(stem))
      return stem.replace(/([bdfgmnprt])\1$/, '$1');
  }
  return word;
}

/** Longest first. */
const suffixes = [
  'ations',
  'ation',
  'ingly',
  'ments',
  'ment',
  'ness',
  'ions',
  'ing',
  'ion',
  'edly',
  'ers',
  'ed',
  'er',
  'ly',
];
