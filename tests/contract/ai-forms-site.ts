import { randomUUID } from 'node:crypto';
import type { SubmitResponse } from '../../plugins/svc/modules/ai-forms/public/protocol.ts';
import type { Answer, Failure, WidgetSite } from './widget-site.ts';

type Fields = Readonly<Record<string, unknown>>;

/** As a page shows one, as far as the server sees it. */
export interface FormPage {
  readonly form: number;
  headers: Record<string, string>;
  token: string;
  start<Body = { token: string; limit: unknown; may_save: boolean }>(): Promise<Answer<Body>>;
  /** Submits as a script does and waits for the whole answer. */
  submit(values: Fields, body?: Fields): Promise<Answer<SubmitResponse & Failure>>;
  /** Submits as the script does that reads along; answers the events. */
  stream(
    values: Fields,
    body?: Fields,
  ): Promise<readonly { readonly type: string; readonly [member: string]: unknown }[]>;
  post<Body = Failure>(route: string, body: Fields): Promise<Answer<Body>>;
}

export const fields = [
  { id: 'topic', type: 'text', label: 'Topic', required: true, max: 40 },
  {
    id: 'tone',
    type: 'select',
    label: 'Tone',
    options: [
      { value: 'f', label: 'Friendly' },
      { value: 's', label: 'Strict' },
    ],
  },
  {
    id: 'extras',
    type: 'checkbox',
    label: 'Extras',
    options: [
      { value: 'a', label: 'Alpha' },
      { value: 'b', label: 'Beta' },
    ],
  },
  { id: 'words', type: 'number', label: 'Words', min: 10, max: 500 },
  { id: 'source', type: 'file', label: 'Source', max: 0.1 },
];

export const prompt = 'Topic: {topic}; tone: {tone}; extras: {extras}; words: {words}; source: {source}';

/** Makes a form whose answers the upstream of the site gives. */
export async function makeForm(
  { host }: Pick<WidgetSite, 'host'>,
  settings: Fields = {},
): Promise<{ readonly id: number }> {
  const { code, out, err } = await host.cli(
    'svc',
    'form',
    'create',
    '--json',
    JSON.stringify({
      name: 'Writer',
      provider: 'openai',
      model: 'gpt-4o-mini',
      elements: fields,
      prompt,
      embed: { enabled: true, allowed_domains: ['shop.example.com'] },
      ...settings,
    }),
  );
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as { id: number };
}

export function pageOf(
  { host }: Pick<WidgetSite, 'host'>,
  form: number,
  headers: Readonly<Record<string, string>> = { origin: 'https://shop.example.com' },
): FormPage {
  const call = (route: string, body: Fields, more: Readonly<Record<string, string>> = {}): Promise<Response> =>
    host.fetch(`/wp-json/svc-widget/v1/forms/${String(form)}/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...page.headers, ...more },
      body: JSON.stringify({ ...(page.token !== '' && { token: page.token }), ...body }),
    });
  const read = async <Body>(response: Response): Promise<Answer<Body>> => ({
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  });
  const page: FormPage = {
    form,
    headers: { ...headers },
    token: '',
    async start<Body>() {
      const answer = await read<Body & { token: string }>(await call('start', {}));
      if (answer.status === 200) page.token = answer.body.token;
      const cookie = answer.headers.get('set-cookie');
      if (cookie !== null)
        page.headers['cookie'] = [page.headers['cookie'], cookie.split(';', 1)[0]].filter(Boolean).join('; ');
      return answer;
    },
    submit: async (values, body = {}) => read(await call('submit', { submission_id: randomUUID(), values, ...body })),
    async stream(values, body = {}) {
      const response = await call(
        'submit',
        { submission_id: randomUUID(), values, ...body },
        { accept: 'text/event-stream' },
      );
      if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
        throw new Error(`No stream, but ${String(response.status)}: ${await response.text()}`);
      return (await response.text())
        .split('\n\n')
        .filter((block) => block.startsWith('event: '))
        .map((block) => {
          const [event = '', data = ''] = block.split('\n');
          return { type: event.slice('event: '.length), ...(JSON.parse(data.slice('data: '.length)) as object) };
        });
    },
    post: async (route, body) => read(await call(route, body)),
  };
  return page;
}

/** A page that has begun a session. */
export async function startedPage(
  site: Pick<WidgetSite, 'host'>,
  form: number,
  headers?: Readonly<Record<string, string>>,
): Promise<FormPage> {
  const page = pageOf(site, form, headers);
  const { status, body } = await page.start();
  if (status !== 200) throw new Error(JSON.stringify(body));
  return page;
}
