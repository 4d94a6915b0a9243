import type { KnowledgeSettings } from '../../../kit/assistants/assistant-knowledge.ts';
import type { EmbedSettings } from '../../../kit/visitors/embed-settings.ts';
import type { PeriodName } from '../../../kit/visitors/period.ts';

export type ElementType = 'text' | 'textarea' | 'number' | 'select' | 'checkbox' | 'radio' | 'file';

export interface ElementOption {
  /** What is submitted. */
  readonly value: string;
  /** What visitors see, and what the prompt is told. */
  readonly label: string;
}

export interface FormElement {
  /** Letters, digits, `-` and `_`, unlike that of any other element: `{id}` in the prompt. */
  readonly id: string;
  readonly type: ElementType;
  readonly label: string;
  readonly help: string;
  /** Of text, textarea and number. */
  readonly placeholder: string;
  readonly required: boolean;
  /** For select, radio and checkbox (several may be ticked); empty for the others. */
  readonly options: readonly ElementOption[];
  /** Least characters of a text, least number, least ticks; null: none. */
  readonly min: number | null;
  /** Most characters, largest number, most ticks, megabytes of a file (up to 5); null: the built-in one. */
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
  /** Answers; 0: no limit. */
  readonly amount: number;
  /** By the site's time zone; weeks begin on Monday. */
  readonly per: PeriodName;
}

export interface FormLimits {
  /** For a visitor who is not signed in, by session and by address. */
  readonly guest: FormLimit;
  readonly user: FormLimit;
  /** By role; of several roles that have one the most generous counts, and it wins over `user`. */
  readonly roles: Readonly<Record<string, FormLimit>>;
  /** Shown when the limit is reached. */
  readonly message: string;
}

export interface FormTexts {
  /** On the button. */
  readonly submit: string;
  readonly working: string;
  /** Above the answer. */
  readonly result: string;
  readonly again: string;
  /** In place of a reason that visitors need not know. */
  readonly error: string;
}

export interface FormResult {
  readonly copy: boolean;
  readonly download: boolean;
  /** Signed-in users who may write posts may save the answer as a draft, on this site. */
  readonly save_as_post: boolean;
}

/** All that is set of a form; what its JSON export, its pages and `svc form create|update --json` hold. */
export interface FormSettings {
  /** 1 to 200 characters. */
  readonly name: string;
  /** An inactive form is not there for visitors. */
  readonly status: 'active' | 'inactive';
  /** Above the fields; plain text, a blank line begins a paragraph. */
  readonly intro: string;
  readonly elements: readonly FormElement[];
  /** What the model is asked; `{id}` of an element is what was filled in, `{{id}}` stays `{id}`. */
  readonly prompt: string;
  /** System text; `[date]` and `[username]` are filled in (D7). */
  readonly instructions: string;
  /** Id of a text provider. */
  readonly provider: string;
  /** Empty: the provider's saved one. */
  readonly model: string;
  readonly parameters: FormParameters;
  readonly knowledge: KnowledgeSettings;
  readonly texts: FormTexts;
  readonly result: FormResult;
  readonly limits: FormLimits;
  readonly consent: { readonly required: boolean; readonly text: string };
  readonly privacy: {
    /** Off: of a submission nothing is stored but that there was one. */
    readonly keep: boolean;
    /** Days a submission is kept; 0: for ever. */
    readonly retention_days: number;
  };
  readonly embed: EmbedSettings;
}

export interface AiForm extends FormSettings {
  /** 1 or more, never used twice. */
  readonly id: number;
  /** Submissions that were answered so far, those deleted since included. */
  readonly submissions: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** The forms of the site, kept in the database; every node sees a change with its next call. */
export interface FormStore {
  /** Null: there is no such form. */
  get(id: number): Promise<AiForm | null>;
  /** By id. */
  list(): Promise<readonly AiForm[]>;
  /** Fills in the defaults. Throws RestError 400 `rest_invalid_param` that lists every bad member by its path (`elements[1].id`). */
  create(settings: unknown): Promise<AiForm>;
  /** All of them or, where one is refused, none; paths begin with `forms[<place>]`. */
  createAll(list: readonly unknown[]): Promise<readonly AiForm[]>;
  /** Nested objects are merged, lists and all else replaced. Throws RestError 404 `rest_svc_form_not_found`, 400 as `create` does. */
  update(id: number, changes: unknown): Promise<AiForm>;
  /** Another form with the same settings, named "<name> (copy)" and inactive. */
  duplicate(id: number): Promise<AiForm>;
  /** With its submissions. Answers whether there was one. */
  delete(id: number): Promise<boolean>;
  /** Settings with the defaults in them, checked but not stored: for a preview. Throws as `create` does. */
  check(settings: unknown): Promise<FormSettings>;
  /** Counts an answered submission in the running transaction; answers how many there are with it. */
  countSubmission(id: number): Promise<number>;
}
