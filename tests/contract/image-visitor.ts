import { randomUUID } from 'node:crypto';
import type { ImagesService } from './images-service.ts';
import type { Fields } from '../helpers/fields.ts';
import { until } from '../helpers/until.ts';

export interface VisitorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Fields;
  readonly text: string;
}

/** A browser that draws by [svc_images]: it keeps its cookie. */
export interface ImageVisitor {
  readonly headers: Record<string, string>;
  token: string;
  /** Asks for images; answers at once. */
  ask(fields: Fields, headers?: Readonly<Record<string, string>>): Promise<VisitorAnswer>;
  /** Asks, and waits until they are drawn. */
  draw(fields: Fields): Promise<VisitorAnswer>;
  mine(): Promise<VisitorAnswer>;
  state(id: string): Promise<VisitorAnswer>;
  /** The state of a request, once it has ended. */
  ended(id: string): Promise<Fields>;
  /** Sends the form as a browser without JavaScript does, and answers where it is led. */
  submit(fields: Readonly<Record<string, string>>): Promise<VisitorAnswer>;
  open(path: string): Promise<VisitorAnswer>;
}

const base = '/wp-json/svc-widget/v1/images';

/** @param cookie of a user who is signed in. */
export async function imageVisitor(
  service: ImagesService,
  { cookie = '' }: { readonly cookie?: string } = {},
): Promise<ImageVisitor> {
  const { host } = service;
  const jar = new Map<string, string>(cookie === '' ? [] : [cookie.split('=', 2) as [string, string]]);
  const keep = (response: Response): void => {
    for (const line of response.headers.getSetCookie())
      jar.set(...(line.split(';', 1)[0]!.split('=', 2) as [string, string]));
  };
  const read = async (response: Response): Promise<VisitorAnswer> => {
    keep(response);
    const text = await response.text();
    const isJson = text !== '' && response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as Fields) : {},
    };
  };
  const cookies = (): Record<string, string> =>
    jar.size === 0 ? {} : { cookie: [...jar].map((pair) => pair.join('=')).join('; ') };
  const post = async (
    path: string,
    body: Fields,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<VisitorAnswer> =>
    read(
      await host.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...visitor.headers, ...cookies(), ...headers },
        body: JSON.stringify(body),
      }),
    );
  const visitor: ImageVisitor = {
    headers: { origin: new URL(host.site.url).origin },
    token: /name="token" value="([^"]+)"/.exec(await host.content.doShortcode('[svc_images]'))?.[1] ?? 'none',
    ask: (fields, headers) => post(base, { prompt: 'A boat', consent: true, token: visitor.token, ...fields }, headers),
    async draw(fields) {
      const answer = await visitor.ask({ request: randomUUID(), ...fields });
      if (answer.body['state'] !== 'drawing') return answer;
      await visitor.ended(answer.body['id'] as string);
      return visitor.state(answer.body['id'] as string);
    },
    async ended(id) {
      let body: Fields = {};
      await until('the end of a request for images', async () => {
        ({ body } = await visitor.state(id));
        return body['state'] !== 'drawing';
      });
      return body;
    },
    mine: () => post(`${base}/mine`, {}),
    state: (id) => post(`${base}/state`, { id }),
    submit: async (fields) =>
      read(
        await host.fetch(base, {
          method: 'POST',
          redirect: 'manual',
          headers: { ...visitor.headers, ...cookies() },
          body: new URLSearchParams({ token: visitor.token, consent: '1', ...fields }),
        }),
      ),
    open: async (path) => read(await host.fetch(path, { redirect: 'manual', headers: cookies() })),
  };
  return visitor;
}
