import type { Infer } from '#plugin-api';
import type { Stored } from '../../../kit/assistants/assistant-rows.ts';
import type { AssistantStore } from '../../../kit/assistants/assistant-store.ts';
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

/** `submissions`: number of completed ones, including deleted ones. Times are milliseconds since the epoch. */
export type AiForm = Stored<FormSettings, 'submissions'>;

/** The forms of the site. Every node sees a change at its next call. A form is deleted with its submissions. */
export interface FormStore extends AssistantStore<FormSettings, AiForm, 'submissions'> {
  /** Counts a completed submission in the running transaction. Returns the new count. */
  countSubmission(id: number): Promise<number>;
}
