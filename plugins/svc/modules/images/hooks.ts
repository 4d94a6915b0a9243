import type { RestRequest } from '#plugin-api';
import type { ImageParams } from '../../kit/image-params.ts';

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
  readonly images: readonly { readonly url: string | null; readonly b64_json: string | null; readonly revised_prompt: string | null }[];
  /** The provider's own data, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly message: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a request for images, or refuses it by throwing a RestError. Runs after all checks, before the provider is asked. */
    svc_images_request: (call: ImagesCall, request: RestRequest) => ImagesCall;
    /** Changes the body of the answer. Not run for errors. */
    svc_images_response: (answer: ImagesAnswer, call: ImagesCall, request: RestRequest) => ImagesAnswer;
  }
}
