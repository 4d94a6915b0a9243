/** When rules are looked at. */
export type RuleEvent = 'session_started' | 'message_received' | 'form_submitted' | 'error';

/** What a condition looks at. `variable:<name>` is one set by an earlier rule, `field:<id>` a field of the submitted form. */
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
  | 'greater_than'
  | 'less_than'
  | 'is_empty'
  | 'is_not_empty';

export interface RuleCondition {
  readonly fact: RuleFact;
  readonly operator: RuleOperator;
  /** Compared without regard to case and accents, as a number by `greater_than` and `less_than`. `contains` and `equals` take several, one a line: any of them will do. */
  readonly value: string;
}

export type RuleAction =
  /** Answers with this text; the model is not asked. */
  | { readonly type: 'reply'; readonly text: string }
  /** Goes into the system text of this answer. */
  | { readonly type: 'add_context'; readonly text: string }
  /** Refuses the message with this text; nothing is generated. */
  | { readonly type: 'block'; readonly text: string }
  /** Shows a form of the bot after the answer. */
  | { readonly type: 'display_form'; readonly form_id: string }
  /** Remembered for the conversation; `{message}`, `{page_url}` and `{field:id}` are filled in. */
  | { readonly type: 'set_variable'; readonly name: string; readonly value: string }
  /** Kept with the conversation, shown in its transcript and export. Placeholders as above. */
  | { readonly type: 'store'; readonly name: string; readonly value: string }
  /** Runs the action `svc_chatbot_rule_<name>` of plugins. */
  | { readonly type: 'call_hook'; readonly name: string };

export interface Rule {
  /** Letters, digits, `-` and `_`, unlike that of any other rule of the bot. */
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly event: RuleEvent;
  /** All must hold; none: always. */
  readonly conditions: readonly RuleCondition[];
  readonly action: RuleAction;
  /** Low first; of equal ones the order of the list counts. */
  readonly priority: number;
}

/** All that conditions may look at. */
export interface RuleFacts {
  readonly message: string;
  /** Messages of the conversation, the one received included. */
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

/** What the rules that held want done. */
export interface RuleOutcome {
  /** Ids of the rules that held, in the order they ran. */
  readonly matched: readonly string[];
  /** The first reply or block ends the run. */
  readonly reply: string | null;
  readonly block: string | null;
  readonly contexts: readonly string[];
  /** Ids of forms. */
  readonly forms: readonly string[];
  /** Those of the facts with what was set. */
  readonly variables: Readonly<Record<string, string>>;
  readonly stored: readonly { readonly name: string; readonly value: string }[];
  /** Names handed to `svc_chatbot_rule_<name>`. */
  readonly hooks: readonly string[];
}
