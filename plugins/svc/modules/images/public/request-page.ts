import { RestResponse, type HostApi, type RestError } from '#plugin-api';
import type { VisitorRequest } from './visitor-requests.ts';

/** An image as its visitor sees it. */
export interface ShownImage {
  readonly url: string;
  readonly alt: string;
}

export interface RequestPage {
  readonly request?: VisitorRequest;
  readonly images?: readonly ShownImage[];
  readonly failure?: RestError;
  /** Path of the page with the form; empty: it is not known. */
  readonly back: string;
}

/** Nothing runs on it, and nothing is loaded but what the site itself serves. */
const policy =
  "default-src 'none'; img-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Seconds until a page looks again whether its images are there. */
const refresh = 3;

/** A visitor's request as a page of its own, for browsers without JavaScript. It asks again by itself while it is drawn. */
export async function pageResponse(
  host: Pick<HostApi, 'views' | 'site'>,
  { request, images = [], failure, back }: RequestPage,
): Promise<RestResponse> {
  const isDrawing = request?.state === 'drawing';
  const message = failure?.message ?? request?.message ?? '';
  const content = await host.views.render('svc/image-request', {
    siteName: await host.site.name(),
    title: isDrawing
      ? 'Your image is being drawn'
      : images.length > 0
        ? images.length === 1
          ? 'Your image'
          : 'Your images'
        : 'No image was drawn',
    prompt: request?.prompt ?? '',
    refresh: isDrawing ? refresh : null,
    images,
    message,
    back,
  });
  return new RestResponse({
    status: failure?.status ?? 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy,
      'X-Robots-Tag': 'noindex',
      'Referrer-Policy': 'same-origin',
    },
    content,
  });
}
