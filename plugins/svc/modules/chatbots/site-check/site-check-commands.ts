import { parseId, type CliCommand } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { checkSite } from './check-site.ts';

/** `svc bot check <id> <url>`. */
export function siteCheckCommands(parts: ChatbotParts): CliCommand[] {
  return [
    {
      name: 'svc bot check',
      description: 'Find out why a page does not show a chatbot, and how to fix it.',
      args: [
        { name: 'id', description: 'Id of the chatbot, see svc bot list.' },
        { name: 'url', description: 'URL of the page.' },
      ],
      flags: {
        internal: { type: 'boolean', description: 'Allow host names that resolve to private network addresses.' },
        strict: { type: 'boolean', description: 'Exit with an error if a check failed.' },
      },
      run: async ({ args: [id = '', url = ''], flags }) => {
        const bot = await parts.bots.get(parseId(id));
        if (bot === null) throw new Error(`Chatbot ${id} does not exist. See svc bot list.`);
        const { ok, findings } = await checkSite(parts, {
          address: url,
          bot,
          allowInternal: flags['internal'] === true,
        });
        if (!ok && flags['strict'] === true)
          throw new Error(
            findings
              .filter(({ verdict }) => verdict === 'failed')
              .map(({ title, text }) => `${title}: ${text}`)
              .join(' '),
          );
        return findings.map(({ id: check, verdict, text, copy }) => ({
          check,
          verdict,
          text,
          copy: copy?.value ?? '',
        }));
      },
    },
  ];
}
