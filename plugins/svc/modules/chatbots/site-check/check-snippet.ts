import { isUrl } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { Finding } from './finding.ts';
import type { PageScript, ReadPage } from './page.reader.ts';

const title = 'Snippet on the page';
const file = /\/svc-widget\/v1\/widget\.js$/;

export interface SnippetFacts {
  readonly bot: Pick<Bot, 'id'>;
  /** All bots of the site. */
  readonly bots: readonly Pick<Bot, 'id' | 'name' | 'status'>[];
  /** URL of the widget's script. */
  readonly script: URL;
  /** The whole script tag. */
  readonly snippet: string;
}

/** The script tags of the widget, of this site or of another. */
export function findSnippet({ scripts, base }: ReadPage): readonly PageScript[] {
  return scripts.filter(
    ({ src }) =>
      isUrl(src, base) &&
      (file.test(new URL(src, base).pathname) || file.test(new URL(src, base).searchParams.get('rest_route') ?? '')),
  );
}

/** Checks that the page has the script tag, and that the tag is correct. */
export function checkSnippet(page: ReadPage, facts: SnippetFacts): Finding {
  const copy = { label: 'script tag', value: facts.snippet };
  const found = findSnippet(page);
  const [first] = found;
  const finding = (verdict: Finding['verdict'], text: string, withCopy = true): Finding => ({
    id: 'snippet',
    title,
    verdict,
    text,
    ...(withCopy && { copy }),
  });
  if (first === undefined) {
    return finding(
      'failed',
      'The page does not contain the script tag of the widget. Add this line before the end of its body. ' +
        'If a tag manager or another script adds the tag, this check cannot see it: open the page and look for the chat.',
    );
  }
  const src = new URL(first.src, page.base);
  const inert = describeInertTag(first);
  if (!sameFile(src, facts.script))
    return finding(
      'failed',
      `The script tag loads ${src.href}, but the widget of this site is at ${facts.script.href}. Replace it with this line.`,
    );
  const ids = [
    ...found.flatMap(({ attributes }) => (attributes['data-bot'] === undefined ? [] : [attributes['data-bot'].trim()])),
    ...page.elements,
  ];
  if (ids.length === 0)
    return finding('failed', 'The script tag names no chatbot: data-bot is missing. Replace it with this line.');
  const problem = ids.map((id) => findBotProblem(id, facts)).find((sentence) => sentence !== null);
  if (problem !== undefined) return finding('failed', `${problem} Replace the tag with this line.`);
  if (inert !== null) return finding('warning', inert, false);
  if (!ids.includes(String(facts.bot.id)))
    return finding(
      'warning',
      `The page shows chatbot ${ids.join(' and ')}, not ${String(facts.bot.id)}. To change that, replace the tag with this line.`,
    );
  if (new Set(ids).size < ids.length)
    return finding('warning', 'The chatbot is on the page more than once. One tag is enough.', false);
  return finding('passed', 'The page has the script tag of this site with an active chatbot.', false);
}

function sameFile(found: URL, right: URL): boolean {
  return (
    found.origin === right.origin &&
    found.pathname === right.pathname &&
    found.searchParams.get('rest_route') === right.searchParams.get('rest_route')
  );
}

function findBotProblem(id: string, { bots }: SnippetFacts): string | null {
  if (!/^[1-9]\d*$/.test(id)) return `"${id}" is not the id of a chatbot.`;
  const bot = bots.find((each) => String(each.id) === id);
  if (bot === undefined) return `Chatbot ${id} does not exist.`;
  return bot.status === 'active'
    ? null
    : `Chatbot ${id} (${bot.name}) is inactive, so visitors cannot use it. Activate it.`;
}

/** Tools for consent or speed set another type on a script, so that it does not run until they allow it. */
function describeInertTag({ attributes }: PageScript): string | null {
  const type = attributes['type']?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'module' || /javascript|ecmascript/.test(type)) return null;
  return (
    `The script tag has the type "${type}": a tool for consent or speed delays it, so the chat appears later. ` +
    'Exclude the tag in that tool to show the chat at once.'
  );
}
