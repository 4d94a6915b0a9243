import { asRecord, formSections, linkErrors, type FieldErrors, type FormField, type HostApi } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import { botSchema } from '../bots/schema/bot-schema.ts';
import { assistantHints, limitRows, type FormState } from '../../../admin-ui/assistant-fields.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import { palette } from '../browser/client/palette.ts';
import { botHead, botPreview } from './bot-head.ts';
import { botLayout } from './bot-layout.ts';

/** A form that was refused, or one that requested the list of indexes. */
export interface Typed extends FormState {
  /** Indexes or collections of the chosen vector store; `note` says what was found or why it could not be read. */
  readonly targets?: { readonly names: readonly string[]; readonly note: string };
}

/** The data of `svc/bot-edit`. */
export async function botEditView(
  parts: ChatbotParts,
  bot: Bot,
  typed: Typed = { draft: { ...bot }, errors: {} },
): Promise<Record<string, unknown>> {
  const hints = { ...(await assistantHints(parts, typed.draft)), 'knowledge.target': { list: 'targets' } };
  const sections = formSections(botSchema, botLayout, { values: typed.draft, errors: typed.errors, id: 'bot', hints });
  const limits = limitRows(botSchema, typed);
  const limitFields = limits.flatMap(({ fields }) => fields);
  return {
    head: botHead(parts.host, bot, 'settings'),
    preview: { ...botPreview(parts.host, bot), follows: true },
    id: bot.id,
    errors: errorLinks(typed.errors, [
      ...sections.flatMap(({ groups }) => groups.flatMap(({ fields }) => fields)),
      ...limitFields,
    ]),
    sections: sections.map((section) => ({
      ...section,
      ...(section.id === 'limits' && {
        limits,
        errors: section.errors + limitFields.filter(({ error }) => error !== undefined).length,
      }),
      isKnowledge: section.id === 'knowledge',
      isEmbed: section.id === 'embed',
    })),
    colors: shownColors(typed.draft),
    models: await offeredModels(parts),
    targets: typed.targets,
    embed: embedCode(parts.host, bot),
  };
}

/** The color of each field on a light page, by its path: the chosen one, or what the others lead to. */
function shownColors({ look }: Typed['draft']): Readonly<Record<string, string | undefined>> {
  const colors = palette({ ...noColors, ...asRecord(look) }, 'light');
  return {
    'look.primary_color': colors['--primary'],
    'look.text_color': colors['--text'],
    'look.background_color': colors['--background'],
    'look.user_bubble_color': colors['--user-bubble'],
    'look.bot_bubble_color': colors['--bot-bubble'],
  };
}

const noColors = {
  ...{ primary_color: '', text_color: '', background_color: '' },
  ...{ user_bubble_color: '', bot_bubble_color: '' },
};

/** The errors, each with a link to its field. */
function errorLinks(
  errors: FieldErrors,
  fields: readonly FormField[],
): readonly { readonly href: string; readonly sentence: string }[] {
  return linkErrors(errors, fields).map((link) =>
    link.href === '' && link.path.startsWith('limits.roles') ? { ...link, href: '#limits' } : link,
  );
}

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
