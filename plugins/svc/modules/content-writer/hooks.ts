import type { NewPost, Post, User } from '#plugin-api';
import type { AiParams } from '../../kit/ai-params.ts';
import type { Template, PartName } from './templates/template.ts';
import type { ContentDraft, ContentInput } from './write/draft.ts';

/** One part's prompt on its way to the provider. */
export interface ContentPrompt {
  /** Id of a provider. */
  readonly provider: string;
  /** '': the one saved with the provider. */
  readonly model: string;
  readonly system: string;
  readonly prompt: string;
  readonly params: AiParams;
}

/** Which text a hook is about. */
export interface ContentGeneration {
  /** The same from the first prompt to the post. */
  readonly key: string;
  readonly origin: ContentOrigin;
  readonly input: ContentInput;
  /** Whose post it becomes; null: nobody's, as with commands. */
  readonly user: Pick<User, 'id' | 'displayName'> | null;
  /** Post that is rewritten, or null. */
  readonly postId: number | null;
}

export type ContentOrigin = 'direct_stream' | 'manual_content_writer' | 'automated_task_content_writing';

declare module '#plugin-api' {
  interface FilterMap {
    /** Templates that cannot be changed: those that come with the service; add a plugin's own, with an id of its own. */
    svc_content_templates: (templates: readonly Template[]) => readonly Template[];
    /** What is sent for one part. A RestError that is thrown refuses the text with its message. May answer a promise. */
    svc_content_prompt: (prompt: ContentPrompt, part: PartName, generation: ContentGeneration) => ContentPrompt;
    /** All parts once they are written, before anybody sees them as a whole and before the event. May answer a promise. */
    svc_content_result: (draft: ContentDraft, generation: ContentGeneration) => ContentDraft;
    /** The post before it is made (or the changes of one that is rewritten); its content is HTML that was cleaned. May answer a promise. */
    svc_content_post: (post: NewPost, draft: ContentDraft, generation: ContentGeneration) => NewPost;
  }
  interface ActionMap {
    /** A post was made or rewritten; inside the transaction that does so. */
    svc_content_saved: (post: Post, draft: ContentDraft, generation: ContentGeneration) => void;
  }
}
