import type { RestRequest, User } from '#plugin-api';
import type { ImageParams } from '../../kit/image-params.ts';
import type { ImageJob } from './draw/image-job.ts';
import type { StoredImage } from './store/image.ts';

/** A request for images, checked, before it goes to a provider. Saved defaults fill in what is not there. */
export interface ImagesCall extends ImageParams {
  /** Id of the provider. */
  readonly provider: string;
  readonly model?: string;
  readonly prompt: string;
  /** 1 to 10. */
  readonly n: number;
  readonly response_format: 'url' | 'b64_json';
}

/** Body of the answer (contract 4.3). */
export interface ImagesAnswer {
  readonly images: readonly {
    readonly url: string | null;
    readonly b64_json: string | null;
    readonly revised_prompt: string | null;
  }[];
  /** The provider's own data, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly message: string;
}

/** A visitor who asks for images. */
export interface ImageVisitor {
  readonly user: Pick<User, 'id' | 'roles'>;
  /** 22 characters, of guests and users alike. */
  readonly session: string;
  readonly ip: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes what modules, pages, visitors and commands have drawn or edited before a provider is asked: prompt, provider, model, number, size. Refuses it by throwing a RestError. Not run for REST. */
    svc_image_job: (job: ImageJob) => ImageJob;
    /** Another limit of images a day for this visitor; null: none. */
    svc_image_visitor_limit: (perDay: number | null, visitor: ImageVisitor) => number | null;
    /** Changes a request for images, or refuses it by throwing a RestError. Runs after all checks, before the provider is asked. */
    svc_images_request: (call: ImagesCall, request: RestRequest) => ImagesCall;
    /** Changes the body of the answer. Not run for errors. */
    svc_images_response: (answer: ImagesAnswer, call: ImagesCall, request: RestRequest) => ImagesAnswer;
  }
  interface ActionMap {
    /** Images are in the media library and in the history. The job is null where an automation made them. Not run for REST. */
    svc_image_generated: (images: readonly StoredImage[], job: ImageJob | null) => void;
    /** No image could be made; the error is what the caller gets. */
    svc_image_failed: (error: unknown, job: ImageJob) => void;
    /** An image was deleted, its file too. */
    svc_image_deleted: (image: StoredImage) => void;
  }
}
