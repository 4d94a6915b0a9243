import type { KnowledgeSettings } from '../../../kit/assistants/assistant-knowledge.ts';
import type { EmbedSettings } from '../../../kit/visitors/embed-settings.ts';
import type { PeriodName } from '../../../kit/visitors/period.ts';

export type ElementType = 'text' | 'textarea' | 'number' | 'select' | 'checkbox' | 'radio' | 'file' | 'image';

export interface ElementOption {
  /** The submitted value. */
  readonly value: string;
  /** Shown to visitors and inserted into the prompt. */
  readonly label: string;
}

export interface FormElement {
  /** Unique. Letters, digits, `-` and `_`; `{id}` in the prompt. */
  readonly id: string;
  readonly type: ElementType;
  readonly label: string;
  readonly help: string;
  /** For text, textarea and number. */
  readonly placeholder: string;
  readonly required: boolean;
  /** For select, radio and checkbox; empty for other types. */
  readonly options: readonly ElementOption[];
  /** Minimum: characters of a text, a number, or selected options. Null: none. */
  readonly min: number | null;
  /** Maximum: characters, a number, selected options, or megabytes of a file or image (up to 5). Null: the default. */
  readonly max: number | null;
}

export interface FormParameters {
  /** Each null: the global default (D8). */
  readonly temperature: number | null;
  readonly top_p: number | null;
  readonly frequency_penalty: number | null;
  readonly presence_penalty: number | null;
  readonly reasoning_effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | null;
  /** 1 to 128,000. Default 4,000. */
  readonly max_completion_tokens: number;
}

export interface FormLimit {
  /** Responses. 0: no limit. */
  readonly amount: number;
  /** In the site's time zone. Weeks start on Monday. */
  readonly per: PeriodName;
}

export interface FormLimits {
  /** For guests, counted by session and by IP address. */
  readonly guest: FormLimit;
  readonly user: FormLimit;
  /** By role, instead of `user`. For several roles, the most generous limit applies. */
  readonly roles: Readonly<Record<string, FormLimit>>;
  /** Shown when the limit is reached. */
  readonly message: string;
}

export interface FormTexts {
  /** On the button. */
  readonly submit: string;
  readonly working: string;
  /** Above the response. */
  readonly result: string;
  readonly again: string;
  /** Shown to visitors instead of the reason of a failure. */
  readonly error: string;
}

export interface FormResult {
  readonly copy: boolean;
  readonly download: boolean;
  /** Signed-in users who may write posts can save the response as a draft, on this site. */
  readonly save_as_post: boolean;
}

/** The settings of a form, as in its JSON export, its pages and `svc form create|update --json`. */
export interface FormSettings {
  /** 1 to 200 characters. */
  readonly name: string;
  /** Visitors cannot see an inactive form. */
  readonly status: 'active' | 'inactive';
  /** Plain text above the fields. A blank line starts a paragraph. */
  readonly intro: string;
  readonly elements: readonly FormElement[];
  /** `{id}` inserts the value of an element; `{{id}}` is a literal `{id}`. */
  readonly prompt: string;
  /** System text. `[date]` and `[username]` are replaced (D7). */
  readonly instructions: string;
  /** Id of a text provider. */
  readonly provider: string;
  /** The empty string means the saved model of the provider. */
  readonly model: string;
  readonly parameters: FormParameters;
  readonly knowledge: KnowledgeSettings;
  readonly texts: FormTexts;
  readonly result: FormResult;
  readonly limits: FormLimits;
  readonly consent: { readonly required: boolean; readonly text: string };
  readonly privacy: {
    /** If false, only the fact of a submission is stored. */
    readonly keep: boolean;
    /** Days until a submission is deleted. 0: never. */
    readonly retention_days: number;
  };
  readonly embed: EmbedSettings;
}

export interface AiForm extends FormSettings {
  /** 1 or more, never used twice. */
  readonly id: number;
  /** Number of completed submissions, including deleted ones. */
  readonly submissions: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** The forms of the site. Every node sees a change at its next call. */
export interface FormStore {
  get(id: number): Promise<AiForm | null>;
  /** By id. */
  list(): Promise<readonly AiForm[]>;
  /** Fills in the defaults. @throws RestError 400 `rest_invalid_param` with every invalid member by its path (`elements[1].id`). */
  create(settings: unknown): Promise<AiForm>;
  /** Creates all forms, or none if one is invalid. Paths start with `forms[<index>]`. */
  createAll(list: readonly unknown[]): Promise<readonly AiForm[]>;
  /** Merges nested objects, replaces everything else. @throws RestError 404 `rest_svc_ai_form_not_found`, 400 like `create`. */
  update(id: number, changes: unknown): Promise<AiForm>;
  /** Creates an inactive copy named "<name> (copy)". */
  duplicate(id: number): Promise<AiForm>;
  /** Deletes a form and its submissions. False: there was none. */
  delete(id: number): Promise<boolean>;
  /** Fills in defaults and checks, without storing. Throws like `create`. */
  check(settings: unknown): Promise<FormSettings>;
  /** Counts a completed submission in the running transaction. Returns the new count. */
  countSubmission(id: number): Promise<number>;
}
