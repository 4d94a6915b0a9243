import type { CliCommand } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { checkSite } from './check-site.ts';

/** `svc bot check <id> <url>`. */
export function siteCheckCommands(parts: ChatbotParts): CliCommand[] {
  return [
    {
      name: 'svc bot check',
      description: 'Find out why a page does not show a chatbot: each finding with what to do about it.',
      args: [
        { name: 'id', description: 'Id of the chatbot, see svc bot list.' },
        { name: 'url', description: 'Address of the page.' },
      ],
      flags: {
        internal: { type: 'boolean', description: 'Names that lead into a private network may be followed.' },
        strict: { type: 'boolean', description: 'Fail when something keeps the chatbot from the page.' },
      },
      run: async ({ args: [id = '', url = ''], flags }) => {
        const bot = /^\d{1,10}$/.test(id) ? await parts.bots.get(Number(id)) : null;
        if (bot === null) throw new Error(`There is no chatbot ${id}. See svc bot list.`);
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
