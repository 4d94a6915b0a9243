import { isUrl } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { Finding } from './finding.ts';
import type { PageScript, ReadPage } from './read-page.ts';

const title = 'Snippet on the page';
const file = /\/svc-widget\/v1\/widget\.js$/;

export interface SnippetFacts {
  readonly bot: Pick<Bot, 'id'>;
  /** All there are. */
  readonly bots: readonly Pick<Bot, 'id' | 'name' | 'status'>[];
  /** Address of the widget's script. */
  readonly script: URL;
  /** The whole tag. */
  readonly snippet: string;
}

/** The tag of the widget's script, wherever it leads. */
export function findSnippet({ scripts, base }: ReadPage): readonly PageScript[] {
  return scripts.filter(
    ({ src }) =>
      isUrl(src, base.href) &&
      (file.test(new URL(src, base).pathname) || file.test(new URL(src, base).searchParams.get('rest_route') ?? '')),
  );
}

/** Whether the page has the script tag, and whether it is the right one. */
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
      'The page does not hold the script tag of the widget. Put this line before the end of its body. (A tag that a tag manager or another script adds later cannot be seen from here: then open the page, and look whether the chat is there.)',
    );
  }
  const src = new URL(first.src, page.base);
  const held = describeInertTag(first);
  if (!sameFile(src, facts.script))
    return finding(
      'failed',
      `The script tag leads to ${src.href}, but the widget of this site is at ${facts.script.href}. Put this line in its place.`,
    );
  const ids = [
    ...found.flatMap(({ attributes }) => (attributes['data-bot'] === undefined ? [] : [attributes['data-bot'].trim()])),
    ...page.elements,
  ];
  if (ids.length === 0)
    return finding(
      'failed',
      'The script is there, but nothing says which chatbot to show: data-bot is missing. Put this line in its place.',
    );
  const error = ids.map((id) => findBotProblem(id, facts)).find((sentence) => sentence !== null);
  if (error !== undefined) return finding('failed', `${error} Put this line in its place.`);
  if (held !== null) return finding('warning', held, false);
  if (!ids.includes(String(facts.bot.id)))
    return finding(
      'warning',
      `The page shows the chatbot ${ids.join(' and ')}, not ${String(facts.bot.id)}. If that is not what you want, put this line in its place.`,
    );
  if (new Set(ids).size < ids.length)
    return finding('warning', 'The chatbot is on the page more than once. One tag is enough.', false);
  return finding('passed', 'The script tag is there, leads to this site and names an active chatbot.', false);
}

function sameFile(found: URL, right: URL): boolean {
  return (
    found.origin === right.origin &&
    found.pathname === right.pathname &&
    found.searchParams.get('rest_route') === right.searchParams.get('rest_route')
  );
}

function findBotProblem(id: string, { bots }: SnippetFacts): string | null {
  if (!/^[1-9]\d*$/.test(id)) return `"${id}" is no number of a chatbot.`;
  const bot = bots.find((each) => String(each.id) === id);
  if (bot === undefined) return `There is no chatbot ${id}.`;
  return bot.status === 'active'
    ? null
    : `The chatbot ${id} (${bot.name}) is not active, so it answers nobody: switch it on.`;
}

/** Tools for consent and speed make a script inert by its type until they see fit. */
function describeInertTag({ attributes }: PageScript): string | null {
  const type = attributes['type']?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'module' || /javascript|ecmascript/.test(type)) return null;
  return `The script tag is there, but of the type "${type}": a tool for consent or speed holds it back, and the chat appears only once that lets it run. Except the tag there if the chat should be there at once.`;
}
