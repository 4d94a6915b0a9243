import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { Section } from './bot-section.ts';

/** Where the bot may be shown (D16). */
export const embedSection: Section = {
  id: 'embed',
  title: 'Embedding',
  help: 'Put the chatbot on this site or on any other.',
  groups: [
    {
      wide: true,
      fields: [
        {
          path: 'embed.enabled',
          type: 'switch',
          label: 'Allow embedding',
          help: 'When off, no page shows the chatbot.',
        },
        {
          path: 'embed.allowed_domains',
          type: 'lines',
          label: 'Allowed domains',
          rows: 4,
          mono: true,
          placeholder: 'example.com\n*.example.com\nhttps://shop.example.com:8443',
          help:
            'This site is always allowed. Add other domains here, one per line. ' +
            '*.example.com allows all its subdomains.',
        },
        {
          path: 'embed.any_site',
          type: 'switch',
          label: 'Any site',
          help: 'Anyone can put this chatbot on their site, and you pay for its answers. Set limits first.',
        },
      ],
    },
  ],
};

/** Code to copy that shows a bot on a page. */
export interface EmbedCode {
  readonly script: string;
  readonly shortcode: string;
  readonly checkHref: string;
}

export function embedCode({ admin, rest }: Pick<HostApi, 'admin' | 'rest'>, { id }: Pick<Bot, 'id'>): EmbedCode {
  return {
    script: `<script src="${rest.url('/svc-widget/v1/widget.js')}" data-bot="${String(id)}" async></script>`,
    shortcode: `[svc_chatbot id=${String(id)}]`,
    checkHref: `${admin.url('svc/check-site')}?bot=${String(id)}`,
  };
}
