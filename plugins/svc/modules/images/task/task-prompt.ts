import type { Post } from '#plugin-api';

/** Characters of a post's text that go into a prompt. */
const longestExcerpt = 1000;

/** A prompt with `{name}` replaced by what there is under that name; a name of nothing leaves nothing. */
export function fillPrompt(prompt: string, words: Readonly<Record<string, unknown>>): string {
  const title = words['title'] ?? words['target'];
  const known: Readonly<Record<string, unknown>> = { ...words, title, topic: words['topic'] ?? title };
  return prompt.replace(/\{([\w -]{1,60})\}/g, (_, name: string) => {
    const value = Object.hasOwn(known, name) ? known[name] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  });
}

/** What of a post a prompt may name. */
export function postWords({ title, excerpt, content, slug }: Post): Readonly<Record<string, string>> {
  const text = (excerpt.trim() || content)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return { title, slug, excerpt: [...text].slice(0, longestExcerpt).join('') };
}
