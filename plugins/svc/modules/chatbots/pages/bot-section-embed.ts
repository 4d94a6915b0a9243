import type { Section } from './bot-section.ts';
import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';

/** Where the bot may be shown (D16). */
export const embedSection: Section = {
  id: 'embed',
  title: 'Embedding',
  help: 'Put the chatbot on this site or on any other.',
  groups: [
    {
      wide: true,
      fields: [
        { path: 'embed.enabled', type: 'switch', label: 'May be embedded', help: 'Off: no page shows it.' },
        {
          path: 'embed.allowed_domains',
          type: 'lines',
          label: 'Allowed domains',
          rows: 4,
          mono: true,
          placeholder: 'example.com\n*.example.com\nhttps://shop.example.com:8443',
          help: 'One a line. *.example.com stands for all its subdomains. Empty: this site alone.',
        },
        {
          path: 'embed.any_site',
          type: 'switch',
          label: 'Any site',
          help: 'Everybody may put this chatbot on their site, and you pay for the answers. Set limits before you switch this on.',
        },
      ],
    },
  ],
};

/** What is copied to show a bot somewhere. */
interface EmbedFacts {
  readonly script: string;
  readonly shortcode: string;
  readonly checkHref: string;
}

export function embedFacts({ admin, rest }: Pick<HostApi, 'admin' | 'rest'>, { id }: Pick<Bot, 'id'>): EmbedFacts {
  return {
    script: `<script src="${rest.url('/svc-widget/v1/widget.js')}" data-bot="${String(id)}" async></script>`,
    shortcode: `[svc_chatbot id=${String(id)}]`,
    checkHref: `${admin.url('svc/check-site')}?bot=${String(id)}`,
  };
}
