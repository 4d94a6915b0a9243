import type { HostApi } from '#plugin-api';

/** One stored file of the event. Never its content (D18). */
export interface EventFile {
  readonly url: string | null;
  readonly media_id: number | null;
  /** Bytes. */
  readonly size: number | null;
  readonly mime_type: string | null;
  readonly revised_prompt: string | null;
}

export interface ImageEvent {
  /** Identifies the request. It is the idempotency key (D19) and the id of the resource. */
  readonly request: string;
  /** `source.origin` (D17). */
  readonly origin: 'admin_image_generator' | 'frontend_image_generator' | 'automated_task_images';
  readonly prompt: string;
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
  readonly mode: 'generate' | 'edit';
  readonly mediaType: 'image' | 'video';
  /** At least one, all of the media type. */
  readonly files: readonly EventFile[];
  /** Usage data of the provider, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** 0: a guest. */
  readonly userId: number;
  /** Guest session that requested it, so that an erasure finds the event. */
  readonly sessionId?: string | null;
}

/**
 * Sends `image.generated` (contract 6.5, D17 to D19) once per request, in the running transaction. Every module that
 * stores generated images or videos uses this.
 */
export async function emitImageEvent(hooks: Pick<HostApi['hooks'], 'doActionAsync'>, event: ImageEvent): Promise<void> {
  const { request, origin, prompt, provider, model, mode, mediaType, files, usage, userId } = event;
  const data = {
    prompt,
    provider,
    model,
    mode,
    media_type: mediaType,
    output_count: files.length,
    outputs: { images: mediaType === 'image' ? files : [], videos: mediaType === 'video' ? files : [] },
    usage,
    actor: userId > 0 ? { type: 'user', user_id: userId } : { type: 'guest' },
  };
  await hooks.doActionAsync('svc_event_emit', 'image.generated', data, {
    origin,
    key: [request],
    person: { userId, sessionId: event.sessionId ?? null },
    resource: { id: request, label: [...prompt].slice(0, 100).join('') },
  });
}
