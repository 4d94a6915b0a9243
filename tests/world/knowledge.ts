import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { setTimeout } from 'node:timers/promises';
import { textOfHtml } from './words.ts';
import type { WorldSite } from './site.ts';

/** A knowledge base of the running site, filled by the form of its page. */
export interface WorldBase {
  readonly id: number;
  /** Uploads a file. Null when it was taken, otherwise the sentence that refuses it. */
  upload(file: File): Promise<string | null>;
  /** Waits until nothing waits for being indexed, and returns the sources in the order in which they were added. */
  sources(): Promise<readonly WorldSource[]>;
  /** The text of a source, as an MCP client reads it. */
  read(source: number): Promise<string>;
  close(): Promise<void>;
}

export interface WorldSource {
  readonly id: number;
  readonly title: string;
  readonly state: string;
  readonly message: string;
}

/** Creates a base in the vector store of the sandbox, with the sandbox's embeddings. */
export async function createBase(site: WorldSite, name: string): Promise<WorldBase> {
  await site.cli('svc', 'sandbox', 'on');
  const { id } = (await site.run(
    ...['svc', 'knowledge', 'create', name, '--store=qdrant', `--target=${name.toLowerCase()}`],
    ...['--provider=openai', '--model=text-embedding-3-small'],
  )) as { readonly id: number };
  await setTimeout(1_000);
  const page = `svc/knowledge/base?id=${id}`;
  const client = new Client({ name: 'world', version: '1.0.0' });
  const headers = { authorization: await site.applicationPassword() };
  const transport = new StreamableHTTPClientTransport(new URL('/wp-json/mcp/v1', site.url), {
    requestInit: { headers },
  });
  await client.connect(transport as never);
  return {
    id,
    async upload(file) {
      const { status, text } = await site.submit(page, 'add-file', { id: String(id), file });
      return status === 303 || status === 302 ? null : refusalIn(text);
    },
    async sources() {
      for (;;) {
        const bases = (await site.run('svc', 'knowledge', 'list')) as readonly {
          readonly id: number;
          readonly waiting: number;
        }[];
        if (bases.find((base) => base.id === id)?.waiting === 0) break;
        await setTimeout(500);
      }
      const found = (await site.run('svc', 'knowledge', 'sources', String(id), '--limit=10000')) as WorldSource[];
      return found.sort((one, other) => one.id - other.id);
    },
    async read(source) {
      const { contents } = await client.readResource({ uri: `knowledge://${id}/${source}` });
      return contents.map((content) => ('text' in content ? content.text : '')).join('\n');
    },
    close: () => client.close(),
  };
}

/** The sentence at the field of a refused form. */
function refusalIn(html: string): string {
  const tags = html.split('<');
  const index = tags.findIndex((tag) => /^\w+ [^>]*class="[^"]*\berror/.test(tag));
  const sentence = index < 0 ? '' : textOfHtml(`<${tags.slice(index, index + 4).join('<')}`);
  return sentence.replace(/\s+/g, ' ').trim() || 'refused without a sentence';
}
