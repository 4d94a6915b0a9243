import { flag, group, line } from '../settings-schema/fields.ts';
import type { EmbedSettings } from './embed-settings.ts';

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
