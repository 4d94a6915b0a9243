import { flag, group, line } from '../settings-schema/fields.ts';

/** Settings of who may show something (D16). */
export const embedSchema = group<EmbedSettings>(
  { title: 'Other sites', description: 'Who may show it.' },
  {
    enabled: flag({ title: 'May be shown: on this site, and on the sites allowed below' }, true),
    allowed_domains: {
      type: 'array',
      title: 'Allowed domains',
      description: "example.com, https://shop.example.com:8443, *.example.com. Empty: this site's own alone.",
      default: [],
      items: line({ title: 'Domain' }, '', 300),
      maxItems: 200,
    },
    any_site: flag({ title: 'Any site' }, false),
  },
);

/** Whose pages may show something of this site (D16). */
export interface EmbedSettings {
  readonly enabled: boolean;
  /** `example.com`, `https://shop.example.com:8443`, `*.example.com`. Empty without `any_site`: the host's own origin alone. */
  readonly allowed_domains: readonly string[];
  readonly any_site: boolean;
}
