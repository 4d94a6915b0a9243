import type { RestRequest, User } from '#plugin-api';
import type { ImageParams } from '../../kit/image-params.ts';
import type { ImageJob } from './generation/image-job.ts';
import type { StoredImage } from './store/image.ts';
import type { VideoJob, VideoRequestData } from './videos/video-jobs.ts';

/** A checked image request. The saved settings supply omitted members. */
export interface ImagesCall extends ImageParams {
  /** Id of the provider. */
  readonly provider: string;
  readonly model?: string;
  readonly prompt: string;
  /** 1 to 10. */
  readonly n: number;
  readonly response_format: 'url' | 'b64_json';
}

/** Body of the response (contract 4.3). */
export interface ImagesResponse {
  readonly images: readonly {
    readonly url: string | null;
    readonly b64_json: string | null;
    readonly revised_prompt: string | null;
  }[];
  /** The provider's own data, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly message: string;
}

export interface ImageVisitor {
  readonly user: Pick<User, 'id' | 'roles'>;
  /** 22 characters, for guests and users. */
  readonly session: string;
  readonly ip: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /**
     * Changes an image job of a page, command, visitor or automation before the provider is called: prompt, provider, model,
     * number, size. Throw a RestError to refuse it. Not run for REST.
     */
    svc_image_job: (job: ImageJob) => ImageJob;
    /**
     * Changes a video before it is requested: prompt, provider, model, size, seconds. Throw a RestError to refuse it. A
     * provider of a plugin generates videos with the capability `videos`, see the filter `svc_providers`.
     */
    svc_video_job: (request: VideoRequestData, userId: number) => VideoRequestData;
    /** Changes the number of images per day for this visitor. Null: no limit. */
    svc_image_visitor_limit: (perDay: number | null, visitor: ImageVisitor) => number | null;
    /** Changes a request of the REST route after all checks. Throw a RestError to refuse it. */
    svc_images_request: (call: ImagesCall, request: RestRequest) => ImagesCall;
    /** Changes the body of a successful response. */
    svc_images_response: (response: ImagesResponse, call: ImagesCall, request: RestRequest) => ImagesResponse;
  }
  interface ActionMap {
    /** Images were added to the media library and the history. The job is null for automations. Not run for REST. */
    svc_image_generated: (images: readonly StoredImage[], job: ImageJob | null) => void;
    /** A job failed with the error that the caller gets. */
    svc_image_failed: (error: unknown, job: ImageJob) => void;
    /** A video could not be generated. */
    svc_video_failed: (error: unknown, job: VideoJob) => void;
    /** An image and its file were deleted. */
    svc_image_deleted: (image: StoredImage) => void;
  }
}
