import { createSystemClock } from '../../../../../host/clock.ts';
import type { Bot } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { describeSharedHosts } from '../../../../helpers/dialects.ts';
import { shareSite } from '../../../../helpers/share-site.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../../../../pages/pages-site.ts';

/** A site with the service and the sandbox, and an administrator at its pages. */
export interface BotsAdmin extends PagesSite {
  readonly browser: AdminBrowser;
  /** Makes a bot by the command line. */
  add(settings?: Readonly<Record<string, unknown>>): Promise<Bot>;
  bots(): Promise<Bot[]>;
  /** Fields of a form as a browser would send them back unchanged. */
  fieldsOf(path: string): Promise<Record<string, string>>;
}

/** Runs a suite against a site, which is restored after each test, on both databases. */
export function describeBotsAdmin(title: string, define: (admin: () => BotsAdmin) => void): void {
  describeSharedHosts(title, (dialectCase) => {
    define(shareSite(async () => {
      const site = await openPages(dialectCase, {}, { plugins: ['svc', 'sandbox'], clock: createSystemClock() });
      await site.create({ login: 'ada', role: 'administrator' });
      const browser = await site.signIn('ada');
      return {
        ...site,
        browser,
        ...commandsOf(site),
        fieldsOf: async (path: string) => readFields((await browser.get(path)).html),
      };
    }));
  });
}

function commandsOf({ host }: PagesSite): Pick<BotsAdmin, 'add' | 'bots'> {
  const run = async (...argv: string[]): Promise<unknown> => {
    const { code, out, err } = await host.cli(...argv);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as unknown;
  };
  const bots = async (): Promise<Bot[]> => {
    const listed = (await run('svc', 'bot', 'list', '--json')) as { id: number }[];
    return Promise.all(listed.map(async ({ id }) => (await run('svc', 'bot', 'get', String(id), '--json')) as Bot));
  };
  return {
    bots,
    async add(settings = {}) {
      const { id } = (await run(
        'svc',
        'bot',
        'create',
        '--json',
        JSON.stringify({ name: 'Helper', provider: 'openai', model: 'gpt-4o-mini', ...settings }),
      )) as { id: number };
      const bot = (await bots()).find((candidate) => candidate.id === id);
      if (!bot) throw new Error('The bot was not made.');
      return bot;
    },
  };
}

/** What the page's form `bot-form` would send: its inputs, selects and text areas. */
function readFields(html: string): Record<string, string> {
  const start = html.indexOf('id="bot-form"');
  const form = html.slice(start, html.indexOf('</form>', start));
  const fields: Record<string, string> = {};
  for (const [, attributes = '', rest = ''] of form.matchAll(
    /<(?:input|textarea|select)([^>]*)>((?:(?!<(?:input|textarea|select)\b)[\s\S])*)/g,
  )) {
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1];
    const type = /\btype="([^"]*)"/.exec(attributes)?.[1];
    if (name === undefined || name === '_nonce') continue;
    if ((type === 'checkbox' || type === 'radio') && !/\bchecked\b/.test(attributes)) continue;
    const chosen = /<option value="([^"]*)" selected/.exec(rest)?.[1] ?? /<option value="([^"]*)"/.exec(rest)?.[1];
    fields[unescaped(name)] = unescaped(
      /\bvalue="([^"]*)"/.exec(attributes)?.[1] ?? chosen ?? rest.split('</textarea>')[0] ?? '',
    );
  }
  return fields;
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&#x3D;', '=')
    .replaceAll('&#x60;', '`')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Sentences at fields, by the id of the field. */
export function errorsIn(html: string): Record<string, string> {
  return Object.fromEntries(
    [...html.matchAll(/class="field-error" id="([^"]+)-error">([^<]+)</g)].map(([, field = '', sentence = '']) => [
      field,
      unescaped(sentence),
    ]),
  );
}
