import type { Infer } from '#plugin-api';
import { flag, group, line, lines } from '../setting-schemas.ts';

/** Which sites may embed a chatbot or form (D16). Without domains and without `any_site`, only the host's own origin. */
export const embedSchema = group(
  { title: 'Other sites', description: 'Which sites may embed it.' },
  {
    enabled: flag({ title: 'Allow embedding', description: 'When off, no page shows it.' }, true),
    allowed_domains: lines(
      {
        title: 'Allowed domains',
        description:
          'This site is always allowed. Add other domains here, one per line. *.example.com allows all its subdomains.',
        ui: { rows: 4, mono: true, placeholder: 'example.com\n*.example.com\nhttps://shop.example.com:8443' },
      },
      line({ title: 'Domain' }, '', 300),
      200,
    ),
    any_site: flag(
      {
        title: 'Any site',
        description: 'Anyone can embed it on their site, and you pay for its answers. Set limits first.',
      },
      false,
    ),
  },
);

export type EmbedSettings = Infer<typeof embedSchema>;

/** The sites that may embed it, for lists of commands. */
export function describeEmbed({ enabled, any_site: anySite, allowed_domains: domains }: EmbedSettings): string {
  if (!enabled) return 'off';
  return anySite ? 'any site' : domains.join(', ') || 'own site';
}
