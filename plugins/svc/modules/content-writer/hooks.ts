import type { NewPost, Post, User } from '#plugin-api';
import type { AiParams } from '../../kit/ai-params.ts';
import type { Template, PartName } from './templates/template.ts';
import type { ContentDraft, ContentInput } from './write/draft.ts';

/** The prompt of one section before it is sent. */
export interface ContentPrompt {
  /** Id of a provider. */
  readonly provider: string;
  /** Empty for the provider's default model. */
  readonly model: string;
  readonly system: string;
  readonly prompt: string;
  readonly params: AiParams;
}

/** The text that a hook is called for. */
export interface ContentGeneration {
  /** Stable from the first prompt to the post. */
  readonly key: string;
  readonly origin: ContentOrigin;
  readonly input: ContentInput;
  /** The owner; null for commands without a user. */
  readonly user: Pick<User, 'id' | 'displayName'> | null;
  /** The rewritten post, or null. */
  readonly postId: number | null;
}

export type ContentOrigin = 'direct_stream' | 'manual_content_writer' | 'automated_task_content_writing';

declare module '#plugin-api' {
  interface FilterMap {
    /** The prompt of one section. Throw a RestError to fail the text with its message. May return a promise. */
    svc_content_prompt: (prompt: ContentPrompt, part: PartName, generation: ContentGeneration) => ContentPrompt;
    /** The finished draft, before it is stored and its event is emitted. May return a promise. */
    svc_content_result: (draft: ContentDraft, generation: ContentGeneration) => ContentDraft;
    /** The post before it is created, or the changes of a rewritten post. Its content is sanitized HTML. May return a promise. */
    svc_content_post: (post: NewPost, draft: ContentDraft, generation: ContentGeneration) => NewPost;
  }
  interface SyncFilterMap {
    /** The built-in templates. Add your plugin's templates, each with a unique id. */
    svc_content_templates: (templates: readonly Template[]) => readonly Template[];
  }
  interface ActionMap {
    /** A post was created or rewritten. Runs in the same transaction. */
    svc_content_saved: (post: Post, draft: ContentDraft, generation: ContentGeneration) => void;
  }
}
