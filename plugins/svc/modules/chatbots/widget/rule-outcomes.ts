import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import type { BotForm } from '../forms/form.ts';
import type { RuleEvent, RuleFacts, RuleOutcome } from '../rules/rule.ts';
import { runRules } from '../rules/run-rules.ts';
import type { RuleCall } from '../hooks.ts';
import { localHour } from '../../../kit/visitors/period.ts';
import type { Visitor } from './visitor.ts';

export interface RuleScene {
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
  /** Runs what rules call, once what they belong to is stored. */
  readonly calls: readonly { readonly name: string; readonly call: RuleCall }[];
}

export interface Rules {
  /** Runs the rules of the events, one after the other, until one replies or blocks. */
  run(events: readonly RuleEvent[], scene: RuleScene): Promise<RuleResult>;
  /** Runs `svc_chatbot_rule_<name>` of each call, without anybody waiting for it. */
  call(result: Pick<RuleResult, 'calls'>): void;
  /** Resolves when no called hook runs any more. */
  settled(): Promise<void>;
}

const nothing: RuleOutcome = {
  matched: [],
  reply: null,
  block: null,
  contexts: [],
  forms: [],
  variables: {},
  stored: [],
  hooks: [],
};

export function createRules({ host }: { readonly host: Pick<HostApi, 'hooks' | 'clock' | 'site'> }): Rules {
  const running = new Set<Promise<void>>();

  async function factsOf({ visitor, ...scene }: RuleScene): Promise<RuleFacts> {
    return {
      message: scene.message,
      message_count: scene.messageCount,
      page_url: scene.pageUrl,
      roles: visitor.user.roles,
      signed_in: visitor.user.id > 0,
      form_id: scene.formId ?? '',
      fields: scene.fields ?? {},
      error_code: scene.errorCode ?? '',
      variables: scene.variables,
      ...localHour(host.clock.now(), await host.site.timezone()),
    };
  }

  function callOf(event: RuleEvent, { visitor, conversation }: RuleScene, facts: RuleFacts): RuleCall {
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
    async run(events, scene) {
      const { bot } = scene.visitor;
      const wanted = events.filter((event) => bot.rules.some((rule) => rule.enabled && rule.event === event));
      if (wanted.length === 0) return { ...nothing, variables: scene.variables, calls: [] };
      const facts = await factsOf(scene);
      let all: RuleResult = { ...nothing, variables: scene.variables, calls: [] };
      for (const event of wanted) {
        const outcome = runRules(bot.rules, event, { ...facts, variables: all.variables });
        const call = callOf(event, scene, { ...facts, variables: outcome.variables });
        all = joined(
          all,
          outcome,
          outcome.hooks.map((name) => ({ name, call })),
        );
        if (all.reply !== null || all.block !== null) break;
      }
      return all;
    },
    call({ calls }) {
      for (const { name, call } of calls) {
        const work = (async () => {
          await host.hooks.doActionAsync(`svc_chatbot_rule_${name}`, call);
          await host.hooks.doActionAsync('svc_chatbot_rule', name, call);
        })()
          .catch(() => undefined)
          .finally(() => running.delete(work));
        running.add(work);
      }
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function joined(all: RuleResult, outcome: RuleOutcome, calls: RuleResult['calls']): RuleResult {
  return {
    matched: [...all.matched, ...outcome.matched],
    reply: outcome.reply,
    block: outcome.block,
    contexts: [...all.contexts, ...outcome.contexts],
    forms: [...new Set([...all.forms, ...outcome.forms])],
    variables: outcome.variables,
    stored: [...all.stored, ...outcome.stored],
    hooks: [...all.hooks, ...outcome.hooks],
    calls: [...all.calls, ...calls],
  };
}

/** The first form of the bot that rules want shown. */
export function formOf(bot: Pick<Bot, 'forms'>, ids: readonly string[]): BotForm | null {
  for (const id of ids) {
    const form = bot.forms.find((one) => one.id === id);
    if (form !== undefined) return form;
  }
  return null;
}

/** Whether rules changed anything that is kept with the conversation. */
export function hasNotes({ matched, stored }: RuleOutcome, bot: Pick<Bot, 'rules'>): boolean {
  return (
    stored.length > 0 || bot.rules.some(({ id, action }) => action.type === 'set_variable' && matched.includes(id))
  );
}
