import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { FormElement, VisibleElement, VisibleForm } from '../forms/form.ts';
import type { RuleEvent, RuleFacts, RuleOutcome } from '../rules/rule.ts';
import { callUrl, type UrlCall } from '../rules/call-url.ts';
import { runRules } from '../rules/run-rules.ts';
import type { RuleCall } from '../hooks.ts';
import { localHour } from '../../../kit/visitors/period.ts';
import type { Visitor } from './visitor.ts';

export interface RuleContext {
  readonly visitor: Visitor;
  /** UUID of the conversation. */
  readonly conversation: string;
  readonly message: string;
  readonly messageCount: number;
  readonly pageUrl: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, string>>;
  readonly formId?: string;
  readonly errorCode?: string;
}

export interface RuleResult extends RuleOutcome {
  /** Hooks to call after the results of the rules are stored. */
  readonly calls: readonly { readonly name: string; readonly call: RuleCall }[];
  /** URLs to call then. */
  readonly urlCalls: readonly UrlCall[];
}

export interface Rules {
  /** Runs the rules of the events in order, until one replies or blocks. */
  run(events: readonly RuleEvent[], context: RuleContext): Promise<RuleResult>;
  /** Runs `svc_chatbot_rule_<name>` for each call, and calls the URLs, in the background. */
  callHooks(result: Pick<RuleResult, 'calls' | 'urlCalls'>): void;
  /** Resolves when all called hooks have ended. */
  settled(): Promise<void>;
}

const emptyOutcome: RuleOutcome = {
  matched: [],
  reply: null,
  block: null,
  contexts: [],
  forms: [],
  variables: {},
  stored: [],
  hooks: [],
  urls: [],
};

export function createRules({
  host,
}: {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'site' | 'http' | 'log'>;
}): Rules {
  const running = new Set<Promise<void>>();

  function inBackground(act: () => Promise<void>): void {
    const task = act()
      .catch(() => undefined)
      .finally(() => running.delete(task));
    running.add(task);
  }

  async function collectFacts({ visitor, ...context }: RuleContext): Promise<RuleFacts> {
    return {
      message: context.message,
      message_count: context.messageCount,
      page_url: context.pageUrl,
      roles: visitor.user.roles,
      signed_in: visitor.user.id > 0,
      form_id: context.formId ?? '',
      fields: context.fields ?? {},
      error_code: context.errorCode ?? '',
      variables: context.variables,
      ...localHour(host.clock.now(), await host.site.timezone()),
    };
  }

  function toRuleCall(event: RuleEvent, { visitor, conversation }: RuleContext, facts: RuleFacts): RuleCall {
    const { id, displayName, roles } = visitor.user;
    const { message, page_url, variables, fields, form_id, error_code } = facts;
    return {
      event,
      bot: visitor.bot,
      conversation,
      message,
      page_url,
      user: { id, displayName, roles },
      variables,
      fields,
      form_id,
      error_code,
    };
  }

  return {
    async run(events, context) {
      const { bot } = context.visitor;
      const relevant = events.filter((event) => bot.rules.some((rule) => rule.enabled && rule.event === event));
      if (relevant.length === 0) return { ...emptyOutcome, variables: context.variables, calls: [], urlCalls: [] };
      const facts = await collectFacts(context);
      let all: RuleResult = { ...emptyOutcome, variables: context.variables, calls: [], urlCalls: [] };
      for (const event of relevant) {
        const outcome = runRules(bot.rules, event, { ...facts, variables: all.variables });
        const call = toRuleCall(event, context, { ...facts, variables: outcome.variables });
        all = mergeOutcomes(all, outcome, {
          calls: outcome.hooks.map((name) => ({ name, call })),
          urlCalls: outcome.urls.map((one) => ({ ...one, call })),
        });
        if (all.reply !== null || all.block !== null) break;
      }
      return all;
    },
    callHooks({ calls, urlCalls }) {
      for (const { name, call } of calls)
        inBackground(async () => {
          await host.hooks.doActionAsync(`svc_chatbot_rule_${name}`, call);
          await host.hooks.doActionAsync('svc_chatbot_rule', name, call);
        });
      for (const call of urlCalls) inBackground(() => callUrl(host, call));
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function mergeOutcomes(
  all: RuleResult,
  outcome: RuleOutcome,
  { calls, urlCalls }: Pick<RuleResult, 'calls' | 'urlCalls'>,
): RuleResult {
  return {
    matched: [...all.matched, ...outcome.matched],
    reply: outcome.reply,
    block: outcome.block,
    contexts: [...all.contexts, ...outcome.contexts],
    forms: [...new Set([...all.forms, ...outcome.forms])],
    variables: outcome.variables,
    stored: [...all.stored, ...outcome.stored],
    hooks: [...all.hooks, ...outcome.hooks],
    urls: [...all.urls, ...outcome.urls],
    calls: [...all.calls, ...calls],
    urlCalls: [...all.urlCalls, ...urlCalls],
  };
}

/** The first of these forms that the bot has, as visitors see it. */
export function findForm(bot: Pick<Bot, 'forms'>, ids: readonly string[]): VisibleForm | null {
  for (const id of ids) {
    const form = bot.forms.find((candidate) => candidate.id === id);
    if (form !== undefined) return { ...form, elements: form.elements.filter(isVisible) };
  }
  return null;
}

function isVisible(element: FormElement): element is VisibleElement {
  return element.type !== 'hidden';
}

/** The variables that rules changed. Only these are stored, because others may have changed since they were read. */
export function changedVariables(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}

/** Whether rules changed anything that is stored with the conversation. */
export function changesConversation({ matched, stored }: RuleOutcome, bot: Pick<Bot, 'rules'>): boolean {
  return (
    stored.length > 0 || bot.rules.some(({ id, action }) => action.type === 'set_variable' && matched.includes(id))
  );
}
