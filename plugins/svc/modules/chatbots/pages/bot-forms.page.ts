import { translateText, type AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import type { BotForm } from '../forms/form.ts';
import { botHead, botPreview } from './bot-head.ts';
import { uniqueId } from '../../../admin-ui/list-edits.ts';
import { partActions, partListView } from './bot-request.ts';
import { formSlug, formsSlug, ruleSlug } from './bot-page-slugs.ts';
import { ruleTitle } from './bot-rule-labels.ts';

/** The forms of a bot and the rules that show them. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  const change = partActions<BotForm>(parts, { name: 'form', partsOf: ({ forms }) => forms, slug: formsSlug });
  return {
    render: partListView(parts, 'svc/bot-forms', view),
    actions: {
      duplicate: change((bot, form) => {
        const copy = {
          ...form,
          id: uniqueId(
            `${form.name} copy`,
            bot.forms.map(({ id }) => id),
            'form',
          ),
          name: `${form.name.slice(0, 190)} ${translateText('(copy)')}`,
        };
        return { changes: { forms: [...bot.forms, copy] }, message: `"${copy.name}" created.` };
      }),
      delete: change((bot, form) => {
        const [rule] = rulesShowing(bot, form.id);
        if (rule)
          return {
            message:
              `Nothing was deleted: the rule "${ruleTitle(rule, bot)}" shows this form. ` +
              'Change or delete that rule first.',
          };
        return {
          changes: { forms: bot.forms.filter((other) => other !== form) },
          message: `${form.name} deleted. Its submissions stay.`,
        };
      }),
    },
  };
}

function rulesShowing({ rules }: Bot, id: string): Bot['rules'][number][] {
  return rules.filter(({ action }) => action.type === 'display_form' && action.form_id === id);
}

function view({ host }: ChatbotParts, bot: Bot): Record<string, unknown> {
  const address = `${host.admin.url(formSlug)}?bot=${String(bot.id)}`;
  const ruleAddress = `${host.admin.url(ruleSlug)}?bot=${String(bot.id)}`;
  return {
    head: botHead(host, bot, 'forms'),
    preview: botPreview(host, bot),
    addHref: address,
    forms: bot.forms.map((form) => ({
      title: form.name,
      id: form.id,
      labels: form.elements.map(({ label }) => label),
      rules: rulesShowing(bot, form.id).map((rule) => ({
        title: ruleTitle(rule, bot),
        href: `${ruleAddress}&rule=${encodeURIComponent(rule.id)}`,
      })),
      href: `${address}&form=${encodeURIComponent(form.id)}`,
      ruleHref: `${ruleAddress}&form=${encodeURIComponent(form.id)}`,
      fields: { bot: bot.id, form: form.id },
    })),
  };
}
