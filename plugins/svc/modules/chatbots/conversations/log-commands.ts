import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatCount, type CliCommand, type JsonSchema } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { logsCsv, logsJsonl, readConversations } from './export-logs.ts';
import { parsePerson, type Person } from './personal-data.ts';

const personFlags: Readonly<Record<string, JsonSchema>> = {
  user: { type: 'string', description: 'Data of this user: id, login or email address of the account.' },
  email: { type: 'string', description: 'Data of the person with this email address, as a user or in a form.' },
  session: { type: 'string', description: 'Data of this guest session.' },
};

/** `svc logs export|erase|verify|index`. */
export function logCommands(parts: ChatbotParts): CliCommand[] {
  return [exportCommand(parts), eraseCommand(parts), verifyCommand(parts), indexCommand(parts)];
}

function exportCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs export',
    description:
      'Write conversations to a new file: .csv has one line per message, .jsonl one per conversation. ' +
      'With --user, --email or --session: all data of that person as .jsonl.',
    args: [{ name: 'file', description: 'File to create. It must not exist.' }],
    flags: {
      ...personFlags,
      bot: { type: 'integer', description: 'Only conversations with this chatbot.' },
      search: { type: 'string', description: 'Only conversations with this text in a message.' },
    },
    run: async ({ args: [file = ''], flags }) => {
      const kind = /\.(csv|jsonl)$/.exec(file)?.[1];
      if (kind === undefined) throw new Error('The file name must end in .csv or .jsonl.');
      const person = await readPerson(parts, flags);
      if (person !== null) {
        if (kind === 'csv') throw new Error('Personal data can only be exported as .jsonl.');
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
      return `${formatCount(ids.length, 'conversation')} written to ${file}.`;
    },
  };
}

/** Creates a file that only its owner can read. Fails if the file exists. */
async function write(file: string, content: AsyncIterable<string>): Promise<void> {
  await pipeline(Readable.from(content), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
}

function eraseCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs erase',
    description:
      'Delete all data of one person, cancel waiting webhook deliveries about them and print the receipt. ' +
      'Without --yes, print how many conversations and submissions there are.',
    flags: {
      ...personFlags,
      yes: { type: 'boolean', description: 'Confirm the deletion. It cannot be undone.' },
      receipt: { type: 'string', description: 'Write the signed receipt to this new file.' },
    },
    run: async ({ flags }) => {
      const person = await readPerson(parts, flags);
      if (person === null) throw new Error('Name the person with --user, --email or --session.');
      const data = await parts.personalData();
      if (flags['yes'] !== true) return { ...(await data.count(person)), deleted: 'nothing: add --yes' };
      const { counts, lists, document, ...receipt } = await data.erase(person, 'command line');
      if (flags['receipt'] !== undefined) await write(String(flags['receipt']), Readable.from([document]));
      return { ...receipt, at: new Date(receipt.at).toISOString(), ...counts, ...lists };
    },
  };
}

function verifyCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs verify',
    description: 'Check the signature of a receipt of an export or deletion.',
    args: [{ name: 'file', description: 'JSON file of the receipt.' }],
    run: async ({ args: [file = ''] }) => {
      const check = await (await parts.personalData()).checkReceipt(await readFile(file, 'utf8'));
      if (check === 'invalid')
        throw new Error('The signature is not valid: the receipt was changed, or it is no receipt.');
      return check === 'valid'
        ? 'The signature is valid. This site made the receipt.'
        : 'The signature is valid, but not of the current key of this site. Compare public_key with an earlier receipt.';
    },
  };
}

function indexCommand(parts: ChatbotParts): CliCommand {
  return {
    name: 'svc logs index',
    description:
      'Index conversations of earlier versions now, and remove the words of deleted ones from the index. On PostgreSQL, ' +
      'also create the index if it is missing.',
    run: async () => {
      const indexed = await parts.logs.index({ compact: true });
      return indexed === 0 ? 'The index is up to date.' : `${formatCount(indexed, 'conversation')} indexed.`;
    },
  };
}

async function readPerson({ host }: ChatbotParts, flags: Readonly<Record<string, unknown>>): Promise<Person | null> {
  const named = ['user', 'email', 'session'].filter((name) => flags[name] !== undefined);
  const [by] = named;
  if (by === undefined) return null;
  if (named.length > 1) throw new Error('Use only one of --user, --email and --session.');
  const value = String(flags[by]);
  // A deleted user is found only by id.
  const user = by === 'user' && !/^\d+$/.test(value) ? await host.users.find(value) : null;
  const person = user === null ? parsePerson(by, value) : { userId: user.id };
  if (person === null)
    throw new Error(
      by === 'user'
        ? `User ${value} does not exist.`
        : `This is not a valid ${by === 'email' ? 'email address' : 'session id'}: ${value}`,
    );
  return person;
}
