import { RestError, RestResponse, translateText, type HostApi } from '#plugin-api';
import { markdownToHtml } from '../../../kit/markdown-html.ts';
import type { Submission } from '../submissions/submission.ts';
import { formMessages, type FormMessages } from './built-in-texts.ts';
import { formView } from './markup.ts';
import { formMarkup } from './markup.ts';
import { formNamespace, type FormView } from './protocol.ts';
import type { SubmissionBody } from './read-body.ts';
import type { Caller, Visitors } from './visitor.ts';

/** No scripts, and only files of this site. */
const policy = [
  "default-src 'none'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
  "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
].join('; ');

export interface PageParts {
  readonly host: Pick<HostApi, 'views' | 'rest' | 'site' | 'hooks' | 'i18n'>;
  readonly visitors: Pick<Visitors, 'nonce'>;
}

/** The page with a response, for browsers without JavaScript. */
export async function responsePage(
  { host, visitors }: PageParts,
  caller: Caller,
  answered: {
    readonly submission: Submission;
    readonly maySave: boolean;
    readonly pageUrl: string;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<RestResponse> {
  const { form } = caller;
  const { submission, maySave, pageUrl, headers } = answered;
  const route = (act: string): string => host.rest.url(`/${formNamespace}/forms/${String(form.id)}/${act}`);
  const isStored = form.privacy.keep;
  return page(
    host,
    { title: form.texts.result || form.name, headers, status: 200 },
    {
      answer: {
        html: host.views.safe(await markdownToHtml(submission.response)),
        markdown: form.result.copy ? submission.response : '',
        notice: noticeOf(submission, formMessages(host)),
        sources: submission.generation?.sources ?? [],
        downloads:
          form.result.download && isStored
            ? [
                ['md', 'Markdown'],
                ['txt', 'Text'],
                ['html', 'HTML'],
              ].map(([format = '', label = '']) => ({
                label,
                href: `${route('download')}?submission_id=${submission.id}&format=${format}`,
              }))
            : [],
        save:
          maySave && isStored
            ? { action: route('post'), submission: submission.id, nonce: await visitors.nonce(form.id) }
            : null,
      },
      formName: form.name,
      backHref: backTo(pageUrl, host.site.url),
      again: form.texts.again,
    },
  );
}

/** The form again, with its values and errors. */
export async function refusalPage(
  { host, visitors }: PageParts,
  caller: Caller,
  refused: {
    readonly error: RestError;
    readonly body: SubmissionBody;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<RestResponse> {
  const { form } = caller;
  const { error, body, headers } = refused;
  const errors =
    error.code === 'rest_invalid_param'
      ? (error.data as { readonly params?: Readonly<Record<string, string>> } | undefined)?.params
      : undefined;
  const view: FormView = await host.hooks.applyFiltersAsync('svc_form_config', formView(form, host), form, null);
  return page(
    host,
    { title: form.name, headers, status: error.status },
    {
      form: formMarkup(host, view, {
        nonce: await visitors.nonce(form.id),
        values: body.values,
        consent: body.consent,
        pageUrl: body.pageUrl,
        ...(errors && { errors }),
        failure: errors
          ? translateText('Nothing was submitted. Correct the marked fields and choose files again.')
          : error.message,
      }),
      formName: form.name,
      backHref: backTo(body.pageUrl, host.site.url),
    },
  );
}

async function page(
  host: PageParts['host'],
  {
    title,
    headers,
    status,
  }: { readonly title: string; readonly headers: Readonly<Record<string, string>>; readonly status: number },
  data: Readonly<Record<string, unknown>>,
): Promise<RestResponse> {
  const html = await host.views.render('svc/ai-forms/page', {
    ...data,
    title,
    siteName: await host.site.name(),
    siteUrl: `${host.site.url}/`,
    styles: host.rest.url(`/${formNamespace}/form.css`),
  });
  return new RestResponse({
    status,
    content: html,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'private, no-store',
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'strict-origin-when-cross-origin',
    },
  });
}

/** The page with the form if it belongs to this site, otherwise the home page. */
function backTo(pageUrl: string, siteUrl: string): string {
  return pageUrl !== '' && new URL(pageUrl).origin === new URL(siteUrl).origin ? pageUrl : `${siteUrl}/`;
}

/** Why a response is not complete; empty if it is. */
function noticeOf({ generation }: Submission, messages: FormMessages): string {
  if (generation?.finish === undefined) return '';
  return generation.finish === 'length' ? messages.cut : messages.filtered;
}
