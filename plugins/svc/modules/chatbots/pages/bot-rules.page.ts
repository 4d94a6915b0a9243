import type { AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Bot } from '../bots/bot.ts';
import type { Rule, RuleEvent } from '../rules/rule.ts';
import { botHead, botPreview } from './bot-head.ts';
import { partActions, partListView } from './bot-request.ts';
import { ruleSlug, rulesSlug } from './bot-page-slugs.ts';
import { describeAction, describeCondition, eventLabels, ruleTitle } from './bot-rule-labels.ts';

/** The rules of a bot by event, in the order in which they run. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  const change = partActions<Rule>(parts, { name: 'rule', partsOf: ({ rules }) => rules, slug: rulesSlug });
  return {
    render: partListView(parts, 'svc/bot-rules', view),
    actions: {
      move: change((bot, rule, request) => ({
        changes: { rules: movedRule(bot.rules, rule.id, readText(request, 'to') === 'up' ? -1 : 1) },
        message: 'Order changed.',
      })),
      switch: change((bot, rule, request) => {
        const enabled = readText(request, 'enabled') === '1';
        return {
          changes: { rules: bot.rules.map((other) => (other === rule ? { ...rule, enabled } : other)) },
          message: `${ruleTitle(rule, bot)} is ${enabled ? 'on' : 'off'}.`,
        };
      }),
      delete: change((bot, rule) => ({
        changes: { rules: bot.rules.filter((other) => other !== rule) },
        message: `${ruleTitle(rule, bot)} deleted.`,
      })),
    },
  };
}

function view({ host }: ChatbotParts, bot: Bot): Record<string, unknown> {
  const address = `${host.admin.url(ruleSlug)}?bot=${String(bot.id)}`;
  return {
    head: botHead(host, bot, 'rules'),
    preview: botPreview(host, bot),
    addHref: address,
    isEmpty: bot.rules.length === 0,
    groups: (Object.keys(eventLabels) as RuleEvent[]).map((event) => {
      const rules = inRunOrder(bot.rules, event);
      return {
        title: eventLabels[event],
        addHref: `${address}&event=${event}`,
        rules: rules.map((rule, at) => ({
          title: ruleTitle(rule, bot),
          named: rule.name.trim() !== '',
          enabled: rule.enabled,
          conditions: rule.conditions.map(describeCondition),
          action: describeAction(rule.action, bot),
          priority: rule.priority,
          href: `${address}&rule=${encodeURIComponent(rule.id)}`,
          first: at === 0,
          last: at === rules.length - 1,
          fields: { bot: bot.id, rule: rule.id },
          switchFields: { bot: bot.id, rule: rule.id, enabled: rule.enabled ? '0' : '1' },
          upFields: { bot: bot.id, rule: rule.id, to: 'up' },
          downFields: { bot: bot.id, rule: rule.id, to: 'down' },
        })),
      };
    }),
  };
}

/** The rules of an event in the order in which they run: lower priority first, equal ones in the order of the list. */
export function inRunOrder(rules: readonly Rule[], event: RuleEvent): Rule[] {
  return rules.filter((rule) => rule.event === event).sort((left, right) => left.priority - right.priority);
}

/**
 * The rules with one moved up (-1) or down (1) among those of its event. It takes the priority of the rule it passes.
 */
export function movedRule(rules: readonly Rule[], id: string, by: -1 | 1): readonly Rule[] {
  const rule = rules.find((candidate) => candidate.id === id);
  if (!rule) return rules;
  const order = inRunOrder(rules, rule.event);
  const passed = order[order.indexOf(rule) + by];
  if (!passed) return rules;
  const others = rules.filter((candidate) => candidate !== rule);
  const at = others.indexOf(passed) + (by === 1 ? 1 : 0);
  return [...others.slice(0, at), { ...rule, priority: passed.priority }, ...others.slice(at)];
}
