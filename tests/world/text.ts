import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignedIn, TestHost } from '#testing';
import { createMigratedHost, createMigratedPostgres } from '../helpers/migrated.ts';
import { stopPostgres } from '../helpers/postgres.ts';
import { createMeasure, type Kind, type Row } from './measure.ts';

/* Strings that break programs, through the doors of people and programs, on both databases. */

/** What a door did with a text: it stored it, or refused it with a sentence. */
interface Outcome {
  readonly status: number;
  readonly body: string;
  /** What is read back; null where nothing was stored. */
  readonly stored: string | null;
}

interface Door {
  readonly name: string;
  /** Whether the field is one line, which may lose white space at its ends, control characters and line breaks. */
  readonly isOneLine: boolean;
  /** The name that a refusal must contain. */
  readonly field: RegExp;
  send(text: string): Promise<Outcome>;
}

export const kind: Kind = {
  title: 'text: strings that break programs, through every door',
  async run(folder) {
    const texts = JSON.parse(readFileSync(join(folder, 'naughty.json'), 'utf8')) as string[];
    const extra = ['a\u0000b', 'half \ud83e of a pair', `${'x'.repeat(40_000)}`];
    const postgres = await createMigratedPostgres();
    try {
      return [
        ...(await tryAll('SQLite', await createMigratedHost({ plugins: ['svc', 'sandbox'] }), [...texts, ...extra])),
        ...(await tryAll(
          'PostgreSQL',
          await createMigratedHost({ plugins: ['svc', 'sandbox'], database: postgres.url }),
          [...texts, ...extra],
        )),
      ];
    } finally {
      await postgres.drop();
      await stopPostgres();
    }
  },
};

async function tryAll(database: string, host: TestHost, texts: readonly string[]): Promise<Row[]> {
  try {
    const rows: Row[] = [];
    for (const door of await openDoors(host)) {
      const measure = createMeasure(`${door.name} (${database})`);
      for (const [index, text] of texts.entries())
        measure.add(`#${index} ${JSON.stringify(text.slice(0, 30))}`, judge(door, text, await door.send(text)));
      rows.push(measure.row());
    }
    return rows;
  } finally {
    await host.stop();
  }
}

function judge({ isOneLine, field }: Door, text: string, { status, body, stored }: Outcome): string | null {
  if (status >= 500) return `status ${status}: ${body}`;
  if (status >= 400) return field.test(body) ? null : `refused without naming the field: ${body}`;
  const wanted = isOneLine ? oneLine(text) : lines(text);
  const got = stored === null ? null : isOneLine ? oneLine(stored) : lines(stored);
  return wanted === got ? null : `${JSON.stringify(wanted)} became ${JSON.stringify(got)}`;
}

/** Browsers and forms send line breaks as CR LF. */
const lines = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

function oneLine(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

async function openDoors(host: TestHost): Promise<Door[]> {
  const admin = await host.signIn();
  const nonce = (await (await host.fetch('/admin/rest-nonce', { headers: { cookie: admin.cookie } })).text()).trim();
  const rest = (path: string, body?: unknown): Promise<Response> =>
    host.fetch(`/wp-json/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', cookie: admin.cookie, 'x-wp-nonce': nonce },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const post = (name: 'title' | 'content', isOneLine: boolean): Door => ({
    name: `REST, ${name} of a post`,
    isOneLine,
    field: new RegExp(name),
    async send(text) {
      const response = await rest('wp/v2/posts?context=edit', { title: 'A', content: 'B', [name]: text });
      const body = await response.text();
      const stored = response.ok ? (JSON.parse(body) as Record<typeof name, { raw: string }>)[name].raw : null;
      return { status: response.status, body, stored };
    },
  });
  return [
    post('title', true),
    post('content', false),
    settingsDoor(rest),
    searchDoor(host),
    botDoor(host),
    endpointDoor(host, admin),
    chatDoor(host, admin),
  ];
}

function settingsDoor(rest: (path: string, body?: unknown) => Promise<Response>): Door {
  return {
    name: 'REST, tagline of the site',
    isOneLine: true,
    field: /description/,
    async send(text) {
      const response = await rest('wp/v2/settings', { description: text });
      const body = await response.text();
      return {
        status: response.status,
        body,
        stored: response.ok ? (JSON.parse(body) as { description: string }).description : null,
      };
    },
  };
}

/** A search stores nothing: its page only has to come. */
function searchDoor(host: TestHost): Door {
  return {
    name: 'site, search',
    isOneLine: true,
    field: /search|s\b/i,
    async send(text) {
      const query = new URLSearchParams({ s: text.replace(/\p{Surrogate}/gu, '\ufffd') });
      const response = await host.fetch(`/?${query.toString()}`);
      return { status: response.status === 414 ? 400 : response.status, body: await response.text(), stored: text };
    },
  };
}

function botDoor(host: TestHost): Door {
  return {
    name: 'command, instructions of a chatbot',
    isOneLine: false,
    field: /instructions/i,
    async send(text) {
      const bot = { name: 'Bot', provider: 'openai', model: 'any', instructions: text };
      const { code, out, err } = await host.cli('svc', 'bot', 'create', '--json', JSON.stringify(bot));
      if (code !== 0) return { status: /internal|unexpected|SQL/i.test(err) ? 500 : 400, body: err, stored: null };
      const { id, instructions } = JSON.parse(out) as { readonly id: number; readonly instructions: string };
      await host.cli('svc', 'bot', 'delete', String(id));
      return { status: 200, body: out, stored: instructions };
    },
  };
}

function endpointDoor(host: TestHost, admin: SignedIn): Door {
  return {
    name: 'form, name of a webhook endpoint',
    isOneLine: true,
    field: /name/i,
    async send(text) {
      const fields = {
        name: text,
        url: 'https://93.184.216.34/hooks',
        enabled: '1',
        'events[0]': 'form.submitted',
        internal: '1',
      };
      const { status, text: body } = await admin.submit('svc/webhooks/endpoint', 'save', fields);
      const { out } = await host.cli('svc', 'webhook', 'list', '--json');
      const [saved] = JSON.parse(out) as { readonly id: string; readonly name: string }[];
      if (saved === undefined) return { status: Math.max(400, status), body, stored: null };
      await host.cli('svc', 'webhook', 'remove', saved.id);
      return { status, body, stored: saved.name };
    },
  };
}

/** A message of a conversation, as the logs return it. */
function chatDoor(host: TestHost, admin: SignedIn): Door {
  const key = 'the REST key of a run over texts';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let bot: Promise<number> | null = null;
  const prepare = async (): Promise<number> => {
    await host.cli('svc', 'key', 'set', key);
    await host.cli('svc', 'sandbox', 'on');
    const settings = JSON.stringify({ name: 'Bot', provider: 'openai', model: 'any' });
    const { out } = await host.cli('svc', 'bot', 'create', '--json', settings);
    return (JSON.parse(out) as { readonly id: number }).id;
  };
  return {
    name: 'REST, message of a chat',
    isOneLine: false,
    field: /content|message/i,
    async send(text) {
      bot ??= prepare();
      const conversation = crypto.randomUUID();
      const response = await host.fetch(`/wp-json/svc/v1/chat/${await bot}/message`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ messages: [{ role: 'user', content: text }], conversation_uuid: conversation }),
      });
      const body = await response.text();
      if (!response.ok) return { status: response.status, body, stored: null };
      const logs = await host.fetch('/wp-json/svc/v1/logs?per_page=5', { headers });
      if (!logs.ok) return { status: logs.status, body: await logs.text(), stored: null };
      const rows = (await logs.json()) as { readonly conversation_uuid: string; readonly messages: string }[];
      const found = rows.find((row) => row.conversation_uuid === conversation);
      const messages = JSON.parse(found?.messages ?? '[]') as { readonly content: string }[];
      const page = await admin.open('svc/logs');
      return { status: page.status, body, stored: messages[0]?.content ?? null };
    },
  };
}
