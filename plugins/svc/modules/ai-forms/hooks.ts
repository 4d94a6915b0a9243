import type { User } from '#plugin-api';
import type { KnowledgePassage } from '../../kit/assistants/assistant-knowledge.ts';
import type { AiParams } from '../../kit/ai-params.ts';
import type { AiForm, FormLimit } from './forms/form.ts';
import type { FormView } from './public/protocol.ts';
import type { Answers, Made } from './submissions/submission.ts';

/** A submission that is being answered. */
export interface FormTurn extends Answers {
  readonly form: AiForm;
  /** UUID. */
  readonly submission: string;
  /** Id 0: a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  readonly pageUrl: string;
}

/** What goes to the provider. */
export interface FormPrompt {
  readonly provider: string;
  readonly model: string;
  readonly params: AiParams;
  /** Instructions, placeholders filled in. */
  readonly system: string;
  readonly knowledge: readonly KnowledgePassage[];
  /** The prompt template with what was filled in. */
  readonly prompt: string;
}

export interface LimitedFormVisitor {
  readonly form: AiForm;
  /** Id 0: a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  readonly session: string;
  readonly ip: string;
}

/** How often an address may call within a minute, on each node. */
export interface FormBurstLimits {
  readonly starts_per_address: number;
  readonly submits_per_address: number;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** What goes to the provider. Refuses the submission by throwing a RestError. */
    svc_form_prompt: (prompt: FormPrompt, turn: FormTurn) => FormPrompt;
    /** Texts that were found for a submission, best first. Runs for forms with knowledge alone, with no texts where the store failed. */
    svc_form_knowledge: (texts: readonly KnowledgePassage[], turn: FormTurn) => readonly KnowledgePassage[];
    /** Whether the visitor sees the answer while it is made. False: nothing is shown before `svc_form_response` had the whole text. */
    svc_form_streams: (streams: boolean, turn: FormTurn) => boolean;
    /** The text of an answer (Markdown), as it is stored, sent in the event and shown in the end. What was streamed has been seen. */
    svc_form_response: (response: string, made: Made, turn: FormTurn) => string;
    /** What visitors' pages are told of a form: another text, an option more. `origin`: the page's, null where none is named. */
    svc_form_config: (view: FormView, form: AiForm, origin: string | null) => FormView;
    /** How often an address may call within a minute, on each node. */
    svc_form_burst_limits: (limits: FormBurstLimits, form: AiForm) => FormBurstLimits;
    /** The limit that counts for a visitor, as the form is set; null: none. */
    svc_form_limit: (limit: FormLimit | null, visitor: LimitedFormVisitor) => FormLimit | null;
  }
  interface ActionMap {
    /** A form was made or changed; second argument: as it was before, null for a new one. */
    svc_form_saved: (form: AiForm, before: AiForm | null) => void;
    /** A form was deleted, with its submissions. */
    svc_form_deleted: (form: AiForm) => void;
    /** A submission was answered and stored. */
    svc_form_answered: (response: string, made: Made, turn: FormTurn) => void;
    /** No answer could be made; the error is what the caller gets. */
    svc_form_failed: (error: unknown, turn: FormTurn) => void;
    /** The knowledge could not be asked; the answer is made without. */
    svc_form_knowledge_failed: (error: unknown, turn: FormTurn) => void;
  }
}
