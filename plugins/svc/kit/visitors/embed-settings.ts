import { flag, group, line } from '../settings-schema/fields.ts';

export const embedSchema = group<EmbedSettings>(
  { title: 'Other sites', description: 'Which sites may embed it.' },
  {
    enabled: flag({ title: 'Embedding on this site and on the allowed sites' }, true),
    allowed_domains: {
      type: 'array',
      title: 'Allowed domains',
      description:
        'This site is always allowed. Add other domains: example.com, https://shop.example.com:8443, *.example.com.',
      default: [],
      items: line({ title: 'Domain' }, '', 300),
      maxItems: 200,
    },
    any_site: flag({ title: 'Any site' }, false),
  },
);

/** Which sites may embed a chatbot or form (D16). */
export interface EmbedSettings {
  readonly enabled: boolean;
  /** `example.com`, `https://shop.example.com:8443`, `*.example.com`. If empty and without `any_site`, only the host's own origin. */
  readonly allowed_domains: readonly string[];
  readonly any_site: boolean;
}
