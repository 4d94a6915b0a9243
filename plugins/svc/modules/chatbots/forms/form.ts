export type FormElementType =
  'text' | 'textarea' | 'email' | 'phone' | 'number' | 'select' | 'radio' | 'checkbox' | 'consent' | 'hidden';

export interface FormOption {
  /** What is submitted. */
  readonly value: string;
  /** What visitors see. */
  readonly label: string;
}

export interface FormElement {
  /** Letters, digits, `-` and `_`. Unique within the form. */
  readonly id: string;
  readonly type: FormElementType;
  readonly label: string;
  readonly help: string;
  readonly placeholder: string;
  readonly required: boolean;
  /** For select, radio and checkbox (multiple choice); otherwise empty. */
  readonly options: readonly FormOption[];
  /** Of `hidden`: what fills it, one of the schema, such as `page_url` or `query:<name>`. Otherwise empty. */
  readonly source: string;
}

/** A form that a rule shows in the conversation (contract 6.2, `chatbot.form_submitted`). */
export interface BotForm {
  /** Letters, digits, `-` and `_`. Unique within the bot. */
  readonly id: string;
  readonly name: string;
  /** Markdown above the fields. */
  readonly intro: string;
  readonly submit_label: string;
  /** Shown after the form was submitted. */
  readonly thanks: string;
  readonly elements: readonly FormElement[];
}

/** A form without its hidden elements, which are not sent to browsers. */
export interface VisibleForm extends Omit<BotForm, 'elements'> {
  readonly elements: readonly VisibleElement[];
}

export interface VisibleElement extends FormElement {
  readonly type: Exclude<FormElementType, 'hidden'>;
}

/** Submitted values by id of the element: a text, a number, the selected values, or whether consent was given. */
export type FormValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A validated submission, with the members of contract 6.5. */
export interface CheckedForm {
  /** By id. Matching fields are repeated under the aliases email, first_name, last_name, phone and company. */
  readonly inputs: FormValues;
  /** The same values as text, with labels of options. */
  readonly display_values: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** One line per field: `Label: value`. */
  readonly summary: string;
}
