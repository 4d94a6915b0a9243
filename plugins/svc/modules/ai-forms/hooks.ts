import type { User } from '#plugin-api';
import type { KnowledgePassage } from '../../kit/assistants/assistant-knowledge.ts';
import type { AiParams } from '../../kit/ai-params.ts';
import type { SourceImage } from '../../kit/image-params.ts';
import type { AiForm, FormLimit } from './forms/form.ts';
import type { FormView } from './public/protocol.ts';
import type { Answers, Generation } from './submissions/submission.ts';

/** A submission while its response is generated. */
export interface SubmissionContext extends Answers {
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
  /** Instructions with replaced placeholders. */
  readonly system: string;
  readonly knowledge: readonly KnowledgePassage[];
  /** The prompt template with the values. */
  readonly prompt: string;
  /** Images that the visitor uploaded, for models that read images. */
  readonly images?: readonly SourceImage[];
}

export interface LimitedFormVisitor {
  readonly form: AiForm;
  /** Id 0: a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  readonly session: string;
  readonly ip: string;
}

/** Maximum calls per IP address, minute and node. */
export interface FormBurstLimits {
  readonly starts_per_address: number;
  readonly submits_per_address: number;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes the request to the provider. Throw a RestError to refuse the submission. */
    svc_form_prompt: (prompt: FormPrompt, context: SubmissionContext) => FormPrompt;
    /** Changes the passages found for a submission, best first; none if the search failed. Only for forms with knowledge. */
    svc_form_knowledge: (texts: readonly KnowledgePassage[], context: SubmissionContext) => readonly KnowledgePassage[];
    /** Whether the response is streamed. False: it is shown after `svc_form_response`. */
    svc_form_streams: (streams: boolean, context: SubmissionContext) => boolean;
    /** Changes the complete response (Markdown) that is stored, sent in the event and shown. Visitors may have seen the streamed text. */
    svc_form_response: (response: string, generation: Generation, context: SubmissionContext) => string;
    /** Changes a form as pages show it. `origin`: of the page, or null. */
    svc_form_config: (view: FormView, form: AiForm, origin: string | null) => FormView;
    /** Changes the limit for a visitor. Null: none. */
    svc_form_limit: (limit: FormLimit | null, visitor: LimitedFormVisitor) => FormLimit | null;
  }
  interface SyncFilterMap {
    /** Changes the maximum calls per IP address, minute and node. */
    svc_form_burst_limits: (limits: FormBurstLimits, form: AiForm) => FormBurstLimits;
  }
  interface ActionMap {
    /** A form was created or changed. `before` is null for a new form. */
    svc_form_saved: (form: AiForm, before: AiForm | null) => void;
    /** A form and its submissions were deleted. */
    svc_form_deleted: (form: AiForm) => void;
    /** A submission was completed and stored. */
    svc_form_answered: (response: string, generation: Generation, context: SubmissionContext) => void;
    /** A submission failed with the error that the caller gets. */
    svc_form_failed: (error: unknown, context: SubmissionContext) => void;
    /** The knowledge search failed. The response is generated without passages. */
    svc_form_knowledge_failed: (error: unknown, context: SubmissionContext) => void;
  }
}
