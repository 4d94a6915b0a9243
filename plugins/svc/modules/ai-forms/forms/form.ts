import type { Infer } from '#plugin-api';
import type { elementSchema, formSchema } from './form-schema.ts';

/**
 * A field of a form. `placeholder` is for text, textarea and number; `options` for select, radio and checkbox. `min` and `max`
 * bound the characters of a text, a number, the selected options, or the megabytes of a file or image (up to 5). Null: the default.
 */
export type FormElement = Infer<typeof elementSchema>;
export type ElementType = FormElement['type'];
export type ElementOption = FormElement['options'][number];

/** The settings of a form, as in its JSON export, its pages and `svc form create|update --json`. */
export type FormSettings = Infer<typeof formSchema>;
export type FormParameters = FormSettings['parameters'];
export type FormLimits = FormSettings['limits'];
export type FormLimit = FormLimits['guest'];
export type FormTexts = FormSettings['texts'];
export type FormResult = FormSettings['result'];

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
