import type { HostApi } from '#plugin-api';
import type { Bot, BotTexts } from '../bots/bot.ts';
import { consentSchema, limitsSchema, textsSchema } from '../bots/schema/appearance.ts';
import { botSchema } from '../bots/schema/bot-schema.ts';
import { builtInThanks } from '../bots/schema/rules-and-forms.ts';

/** Texts that are hidden while they are empty. The widget has a built-in one for each other empty text. */
const hiddenWhenEmpty: ReadonlySet<string> = new Set(['title', 'subtitle', 'footer', 'invitation']);

/** The bot with its built-in texts in the language of the site. What an administrator wrote stays as it is. */
export function inSiteLanguage(bot: Bot, { i18n }: Pick<HostApi, 'i18n'>): Bot {
  const translated = (text: string, builtIn: string): string => (text === builtIn ? i18n.__(text) : text);
  const texts = Object.entries(textsSchema.properties).map(([name, { default: builtIn }]) => {
    const text = bot.texts[name as keyof BotTexts];
    const ours = i18n.__(builtIn);
    // Empty texts of a site in English stay empty, as they are stored.
    const isMissing = text === '' && !hiddenWhenEmpty.has(name) && ours !== builtIn;
    return [name, text === builtIn || isMissing ? ours : text];
  });
  const { message, guest_message } = limitsSchema.properties;
  return {
    ...bot,
    greeting: translated(bot.greeting, botSchema.properties.greeting.default),
    texts: Object.fromEntries(texts) as BotTexts,
    forms: bot.forms.map((form) => ({ ...form, thanks: translated(form.thanks, builtInThanks) })),
    consent: { ...bot.consent, text: translated(bot.consent.text, consentSchema.properties.text.default) },
    limits: {
      ...bot.limits,
      message: translated(bot.limits.message, message.default),
      guest_message: translated(bot.limits.guest_message, guest_message.default),
    },
  };
}
