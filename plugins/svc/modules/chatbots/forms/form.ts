export type FormElementType =
  'text' | 'textarea' | 'email' | 'phone' | 'number' | 'select' | 'radio' | 'checkbox' | 'consent';

export interface FormOption {
  /** What is submitted. */
  readonly value: string;
  /** What visitors see. */
  readonly label: string;
}

export interface FormElement {
  /** Letters, digits, `-` and `_`, unlike that of any other element of the form. */
  readonly id: string;
  readonly type: FormElementType;
  readonly label: string;
  readonly help: string;
  readonly placeholder: string;
  readonly required: boolean;
  /** For select, radio and checkbox (several may be ticked); empty for the others. */
  readonly options: readonly FormOption[];
}

/** A form that a rule shows in the conversation (contract 6.2, `chatbot.form_submitted`). */
export interface BotForm {
  /** Letters, digits, `-` and `_`, unlike that of any other form of the bot. */
  readonly id: string;
  readonly name: string;
  /** Above the fields; Markdown. */
  readonly intro: string;
  readonly submit_label: string;
  /** Shown after it was submitted. */
  readonly thanks: string;
  readonly elements: readonly FormElement[];
}

/** Submitted values by id of the element: a text, a number, texts of ticked boxes, or whether consent was given. */
export type FormValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A submission as it was checked, in the words of contract 6.5. */
export interface CheckedForm {
  /** By id, and once more under the aliases email, first_name, last_name, phone and company where fields match. */
  readonly inputs: FormValues;
  /** The same with labels of options, every value a text. */
  readonly display_values: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** `Label: value`, one a line. */
  readonly summary: string;
}
