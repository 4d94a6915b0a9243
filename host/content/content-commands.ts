import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CliCommand, Post, UsersApi } from '#plugin-api';
import type { ContentParts } from './content.ts';

export interface ContentCommandsDependencies {
  readonly parts: ContentParts;
  readonly users: Pick<UsersApi, 'get' | 'find' | 'list'>;
}

/** `post list|create|delete` and `media import`, with the names and output of WP-CLI. */
export function contentCommands(given: ContentCommandsDependencies): CliCommand[] {
  return [listCommand(given), createCommand(given), deleteCommand(given), importCommand(given)];
}

function listCommand({ parts: { store, permalinks } }: ContentCommandsDependencies): CliCommand {
  return {
    name: 'post list',
    description: 'Lists posts, newest first.',
    flags: {
      post_type: { type: 'string', default: 'post', description: 'Post type, or any.' },
      post_status: { type: 'string', default: 'any', description: 'Post status, or any.' },
      s: { type: 'string', description: 'Search text.' },
      posts_per_page: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 50,
        description: 'Maximum number of rows.',
      },
    },
    async run({ flags }) {
      const search = text(flags['s']);
      const posts = await store.find({
        type: String(flags['post_type']),
        status: String(flags['post_status']),
        limit: Number(flags['posts_per_page']),
        ...(search !== null && { search }),
      });
      return Promise.all(posts.map(async (post) => ({ ...describe(post), url: await permalinks.url(post) })));
    },
  };
}

function createCommand({ parts: { writer }, users }: ContentCommandsDependencies): CliCommand {
  return {
    name: 'post create',
    description: 'Creates a post.',
    flags: {
      post_title: { type: 'string', description: 'Title.' },
      post_content: { type: 'string', description: 'HTML.' },
      post_excerpt: { type: 'string', description: 'HTML. Default: the start of the content.' },
      post_status: { type: 'string', default: 'draft', description: 'Status.' },
      post_type: { type: 'string', default: 'post', description: 'Type.' },
      post_name: { type: 'string', description: 'Slug.' },
      post_author: {
        type: 'string',
        description: 'Id, user name or email address. Default: the first administrator.',
      },
    },
    async run({ flags }) {
      const [slug, excerpt] = [text(flags['post_name']), text(flags['post_excerpt'])];
      const post = await writer.create({
        type: text(flags['post_type']) ?? 'post',
        status: text(flags['post_status']) ?? 'draft',
        title: text(flags['post_title']) ?? '',
        content: text(flags['post_content']) ?? '',
        authorId: await findAuthor(users, text(flags['post_author'])),
        ...(slug !== null && { slug }),
        ...(excerpt !== null && { excerpt }),
      });
      return describe(post);
    },
  };
}

function deleteCommand({ parts: { removal } }: ContentCommandsDependencies): CliCommand {
  return {
    name: 'post delete',
    description: 'Moves a post to the trash, or deletes it with --force.',
    args: [{ name: 'id', description: 'Id of the post.' }],
    flags: { force: { type: 'boolean', description: 'Delete permanently.' } },
    async run({ args: [id = ''], flags }) {
      const removed = await removal.delete(/^\d+$/.test(id) ? Number(id) : 0, { force: flags['force'] === true });
      if (removed === null) throw new Error(`Post ${id} does not exist. Run 'post list' to see all posts.`);
      return { id: removed.id, deleted: flags['force'] === true || removed.status !== 'trash' };
    },
  };
}

function importCommand({ parts: { media }, users }: ContentCommandsDependencies): CliCommand {
  return {
    name: 'media import',
    description: 'Copies a file into the media library.',
    args: [{ name: 'file', description: 'Path of the file.' }],
    flags: {
      title: { type: 'string', description: 'Default: the file name.' },
      alt: { type: 'string', description: 'Alternative text of an image.' },
      post_author: {
        type: 'string',
        description: 'Id, user name or email address. Default: the first administrator.',
      },
    },
    async run({ args: [file = ''], flags }) {
      const bytes = await readFile(file).catch((error: unknown) => {
        throw new Error(`The file '${file}' cannot be read.`, { cause: error });
      });
      const [title, alt] = [text(flags['title']), text(flags['alt'])];
      const saved = await media.save({
        bytes,
        name: basename(file),
        authorId: await findAuthor(users, text(flags['post_author'])),
        ...(title !== null && { title }),
        ...(alt !== null && { alt }),
      });
      return { id: saved.id, url: saved.url, mime_type: saved.mimeType, size: saved.size };
    },
  };
}

async function findAuthor(users: ContentCommandsDependencies['users'], name: string | null): Promise<number> {
  if (name === null) return (await users.list({ role: 'administrator', limit: 1 }))[0]?.id ?? 0;
  const user = (await users.find(name)) ?? (/^\d+$/.test(name) ? await users.get(Number(name)) : null);
  if (user === null) throw new Error(`User '${name}' does not exist. Run 'user list' to see all users.`);
  return user.id;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function describe({ id, type, status, title, slug, authorId, date }: Post): Record<string, unknown> {
  return { id, type, status, title, slug, author: authorId, date: new Date(date).toISOString() };
}
