/** When rules run. */
export type RuleEvent = 'session_started' | 'message_received' | 'form_submitted' | 'error';

/** What a condition tests. `variable:<name>` was set by an earlier rule; `field:<id>` is a field of the submitted form. */
export type RuleFact =
  | 'message'
  | 'message_count'
  | 'page_url'
  | 'signed_in'
  | 'role'
  | 'form_id'
  | 'error_code'
  | 'hour'
  | 'weekday'
  | `variable:${string}`
  | `field:${string}`;

export type RuleOperator =
  | 'contains'
  | 'not_contains'
  | 'equals'
  | 'not_equals'
  | 'starts_with'
  | 'ends_with'
  /** Regular expressions of RE2, one per line: linear in time, without look-around and back-references. */
  | 'matches'
  | 'greater_than'
  | 'less_than'
  | 'is_empty'
  | 'is_not_empty';

export interface RuleCondition {
  readonly fact: RuleFact;
  readonly operator: RuleOperator;
  /**
   * Compared without case and accents; `greater_than` and `less_than` compare numbers. `contains`, `equals`, `starts_with`
   * and `ends_with` accept several values, one per line; one match is enough.
   */
  readonly value: string;
}

export type RuleAction =
  /** Replies with this text instead of calling the model. */
  | { readonly type: 'reply'; readonly text: string }
  /** Adds the text to the system text of this answer. */
  | { readonly type: 'add_context'; readonly text: string }
  /** Refuses the message with this text; nothing is generated. */
  | { readonly type: 'block'; readonly text: string }
  /** Shows a form of the bot after the answer. */
  | { readonly type: 'display_form'; readonly form_id: string }
  /** Sets a variable of the conversation; replaces `{message}`, `{page_url}` and `{field:id}`. */
  | { readonly type: 'set_variable'; readonly name: string; readonly value: string }
  /** Stores a value with the conversation, for its transcript and export. Placeholders as above. */
  | { readonly type: 'store'; readonly name: string; readonly value: string }
  /** Runs the action `svc_chatbot_rule_<name>` of plugins. */
  | { readonly type: 'call_hook'; readonly name: string }
  /** Sends the facts as JSON to a URL, in the background. */
  | { readonly type: 'call_url'; readonly url: string };

export interface Rule {
  /** Letters, digits, `-` and `_`; unique among the bot's rules. */
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly event: RuleEvent;
  /** All must match. Without conditions the rule always runs. */
  readonly conditions: readonly RuleCondition[];
  readonly action: RuleAction;
  /** Lower numbers run first; equal ones in the order of the list. */
  readonly priority: number;
}

/** The values that conditions can test. */
export interface RuleFacts {
  readonly message: string;
  /** Messages of the conversation, including the one received. */
  readonly message_count: number;
  readonly page_url: string;
  readonly roles: readonly string[];
  readonly signed_in: boolean;
  readonly form_id: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly error_code: string;
  readonly variables: Readonly<Record<string, string>>;
  /** 0 to 23 and 1 (Monday) to 7, by the site's time zone. */
  readonly hour: number;
  readonly weekday: number;
}

/** What the matching rules do. */
export interface RuleOutcome {
  /** Ids of the matching rules, in the order they ran. */
  readonly matched: readonly string[];
  /** The first reply or block ends the run. */
  readonly reply: string | null;
  readonly block: string | null;
  readonly contexts: readonly string[];
  /** Ids of forms. */
  readonly forms: readonly string[];
  /** The variables of the facts with the changes of the rules. */
  readonly variables: Readonly<Record<string, string>>;
  readonly stored: readonly { readonly name: string; readonly value: string }[];
  /** Names for `svc_chatbot_rule_<name>`. */
  readonly hooks: readonly string[];
  /** URLs to call, with the id of their rule. */
  readonly urls: readonly { readonly rule: string; readonly url: string }[];
}
