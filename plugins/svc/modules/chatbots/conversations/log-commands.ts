import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CliCommand, JsonSchema } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { logsCsv, logsJsonl, readConversations } from './export-logs.ts';
import { parsePerson, type Person } from './personal-data.ts';

const personFlags: Readonly<Record<string, JsonSchema>> = {
  user: { type: 'string', description: 'Of this user: id, login or e-mail address of the account.' },
  email: { type: 'string', description: 'Of whoever has this e-mail address, as a user or in a form.' },
  session: { type: 'string', description: 'Of this session of a guest.' },
};

/** `svc logs export|erase|index`. */
export function logCommands(parts: ChatbotParts): CliCommand[] {
  return [exportCommand(parts), eraseCommand(parts), indexCommand(parts)];
}

function exportCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs export',
    description:
      'Write conversations to a new file: .csv with a line for each message, .jsonl with one for each conversation. With a person, all data of theirs as .jsonl.',
    args: [{ name: 'file', description: 'A file that is not there yet.' }],
    flags: {
      ...personFlags,
      bot: { type: 'integer', description: 'Only conversations with this chatbot.' },
      search: { type: 'string', description: 'Only conversations with this text in a message.' },
    },
    run: async ({ args: [file = ''], flags }) => {
      const kind = /\.(csv|jsonl)$/.exec(file)?.[1];
      if (kind === undefined) throw new Error('The name of the file must end in .csv or .jsonl.');
      const person = await readPerson(parts, flags);
      if (person !== null) {
        if (kind === 'csv') throw new Error('Data of a person are of several kinds: name a file that ends in .jsonl.');
        await write(file, (await parts.personalData()).export(person, 'command line'));
        return `Written to ${file}.`;
      }
      const logs = parts.logs;
      const ids = await logs.all({
        botId: flags['bot'] as number | undefined,
        text: flags['search'] as string | undefined,
      });
      const conversations = readConversations(parts.host, ids);
      await write(file, kind === 'csv' ? logsCsv(conversations) : logsJsonl(conversations));
      return `${String(ids.length)} conversations written to ${file}.`;
    },
  };
}

/** For its owner's eyes alone, and never over another file. */
async function write(file: string, content: AsyncGenerator<string>): Promise<void> {
  await pipeline(Readable.from(content), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
}

function eraseCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs erase',
    description:
      'Delete all conversations and form submissions of one person, and print the receipt. Without --yes: print how much there is.',
    flags: { ...personFlags, yes: { type: 'boolean', description: 'Really delete. It cannot be brought back.' } },
    run: async ({ flags }) => {
      const person = await readPerson(parts, flags);
      if (person === null) throw new Error('Name the person by --user, --email or --session.');
      const data = await parts.personalData();
      if (flags['yes'] !== true) return { ...(await data.count(person)), deleted: 'nothing: add --yes' };
      const { counts, ...receipt } = await data.erase(person, 'command line');
      return { ...receipt, at: new Date(receipt.at).toISOString(), ...counts };
    },
  };
}

function indexCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs index',
    description: 'Bring the search index of the logs up to date now, and take out the words of deleted conversations.',
    run: async () =>
      (await parts.logs.maintain({ all: true, purge: true }))
        ? 'The index is up to date.'
        : 'Another process is at it.',
  };
}

async function readPerson({ host }: ChatbotParts, flags: Readonly<Record<string, unknown>>): Promise<Person | null> {
  const named = ['user', 'email', 'session'].filter((name) => flags[name] !== undefined);
  const [by] = named;
  if (by === undefined) return null;
  if (named.length > 1) throw new Error('Name the person by one of --user, --email and --session.');
  const value = String(flags[by]);
  // Of a user who is gone only the id is left.
  const user = by === 'user' && !/^\d+$/.test(value) ? await host.users.find(value) : null;
  const person = user === null ? parsePerson(by, value) : { userId: user.id };
  if (person === null)
    throw new Error(
      by === 'user'
        ? `There is no user ${value}.`
        : `This is no ${by === 'email' ? 'e-mail address' : 'session id'}: ${value}`,
    );
  return person;
}
