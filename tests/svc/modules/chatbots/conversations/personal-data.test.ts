import { expect } from 'chai';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { TestHost } from '#testing';
import { createPostgresDatabase } from '../../../../helpers/postgres.ts';
import { createConversationStore } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import type { ConversationStore } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation.ts';
import { createSubmissionStore } from '../../../../../plugins/svc/modules/chatbots/forms/submission-store.ts';
import { aConversation, anAnswer, aQuestion } from './open-conversations.ts';
import { createMigratedHost } from '../../../../helpers/migrated.ts';

const day = 24 * 3600 * 1000;

for (const dialect of ['SQLite', 'PostgreSQL'] as const) {
  describe(`personal data in the logs (${dialect})`, () => {
    let host: TestHost;
    let store: ConversationStore;
    let folder = '';
    let drop = async (): Promise<void> => {};

    before('starts a site', async function () {
      this.timeout(120_000);
      folder = await mkdtemp(join(tmpdir(), 'svc-personal-'));
      const database = dialect === 'PostgreSQL' ? await createPostgresDatabase() : null;
      drop = database?.drop ?? drop;
      host = await createMigratedHost({ plugins: ['svc'], ...(database !== null && { database: database.url }) });
      store = createConversationStore({ host: { database: host.database, clock: host.clock } });
    });
    after('stops it', async () => {
      await host.stop();
      await drop();
      await rm(folder, { recursive: true, force: true });
    });

    async function talk(
      text: string,
      given: Parameters<typeof aConversation>[0] = {},
    ): Promise<{ id: number; uuid: string }> {
      const conversation = await store.start(aConversation(given));
      await store.append(conversation.id, [aQuestion(text), anAnswer('=1+1 is two')]);
      return conversation;
    }

    async function submit(conversation: string, email: string): Promise<void> {
      const checked = {
        inputs: { email },
        display_values: { email },
        labels: { email: 'E-mail' },
        summary: `E-mail: ${email}`,
      };
      await createSubmissionStore({ host }).add({
        ...checked,
        id: randomUUID(),
        botId: 1,
        formId: 'call',
        formName: 'Call me',
        conversation,
        userId: 0,
        sessionId: 'session-1',
        pageUrl: '',
        createdAt: host.clock.now(),
      });
    }

    const record = async (...argv: string[]): Promise<Record<string, unknown>> => {
      const { code, out, err } = await host.cli(...argv, '--json');
      expect(err).to.equal('');
      expect(code).to.equal(0);
      return JSON.parse(out) as Record<string, unknown>;
    };

    it('is deleted by email address, in forms and as a user, with an anonymous receipt', async () => {
      const user = await host.users.create({ login: 'grace', email: 'Grace@Example.com', password: 'a long password' });
      const [own, asGuest, other] = [
        await talk('my compiler', { userId: user.id }),
        await talk('call me', { sessionId: 'somebody' }),
        await talk('unrelated', { sessionId: 'another' }),
      ];
      await submit(asGuest.uuid, 'grace@example.com');
      await submit(other.uuid, 'someone@example.com');
      const post = await host.content.posts.create({ title: 'Open', status: 'publish' });
      const author = { user_id: 0, author_name: 'Grace', author_email: 'GRACE@example.com', author_url: '' };
      await host.database.knex('comments').insert({
        ...{ ...author, post_id: post.id, parent_id: 0, author_ip: '192.0.2.1', author_agent: 'x', date: 1 },
        ...{ content: 'Said as a guest', status: 'hold', search_text: 'grace said as a guest' },
      });
      const file = join(folder, `${dialect}-comments.jsonl`);
      await host.cli('svc', 'logs', 'export', file, '--email=grace@example.com');
      expect(await readFile(file, 'utf8'))
        .to.contain('"type":"comment"')
        .and.contain('192.0.2.1');
      expect(await record('svc', 'logs', 'erase', '--email=grace@example.com')).to.include({
        conversations: 2,
        messages: 4,
        submissions: 1,
        deleted: 'nothing: add --yes',
      });
      const receipt = await record('svc', 'logs', 'erase', '--email=grace@example.com', '--yes');
      expect(receipt).to.include({
        act: 'erase',
        by: 'email',
        actor: 'command line',
        conversations: 2,
        messages: 4,
        submissions: 1,
      });
      expect(receipt).to.include({ comments: 1 });
      expect(JSON.stringify(await host.database.knex('comments').select('*')))
        .to.contain('Said as a guest')
        .and.not.match(/grace/i);
      for (const { uuid } of [own, asGuest]) expect(await store.find(uuid)).to.equal(null);
      expect(await store.find(other.uuid)).not.to.equal(null);
      expect(JSON.stringify(await host.database.knex('svc_personal_receipts'))).not.to.match(/grace/i);
      expect(await record('svc', 'logs', 'erase', '--email=grace@example.com', '--yes')).to.include({
        conversations: 0,
        submissions: 0,
      });
    });

    it('is exported as JSON lines, including data of plugins, to a file that only its owner can read', async () => {
      const { uuid } = await talk('hello from a session', { sessionId: 'session-7' });
      await submit(uuid, 'seven@example.com');
      const undo = host.hooks.addFilter('svc_personal_data_export', (records) => [
        ...records,
        { type: 'ticket', data: { id: 5 } },
      ]);
      const file = join(folder, `${dialect}.jsonl`);
      await host.cli('svc', 'logs', 'export', file, '--session=session-7');
      undo();
      const lines = (await readFile(file, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ type }) => type)).to.deep.equal(['conversation', 'submission', 'ticket']);
      expect(lines[0]).to.deep.include({ uuid, session_id: 'session-7', user: null });
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      const again = await host.cli('svc', 'logs', 'export', file, '--session=session-7');
      expect(again.code).to.equal(1);
      expect(again.err).to.include('EEXIST');
    });

    it('needs exactly one valid identifier', async () => {
      for (const argv of [
        ['erase'],
        ['erase', '--user=nobody-at-all'],
        ['erase', '--email=nobody'],
        ['erase', '--email=a@b', '--session=x'],
        ['export', 'logs.txt'],
      ]) {
        expect((await host.cli('svc', 'logs', ...argv)).code, argv.join(' ')).to.equal(1);
      }
    });

    it('does not run in a spreadsheet when the logs are exported', async () => {
      const file = join(folder, `${dialect}.csv`);
      await talk('=HYPERLINK("http://evil.example")');
      const { out } = await host.cli('svc', 'logs', 'export', file);
      expect(out).to.match(/\d conversations written/);
      const text = await readFile(file, 'utf8');
      expect(text).to.include(`"'=HYPERLINK(""http://evil.example"")"`).and.to.include("'=1+1 is two");
    });

    it('is deleted after the retention of its chatbot, in batches; that of deleted chatbots stays', async () => {
      const made = JSON.parse(
        (
          await host.cli(
            'svc',
            'bot',
            'create',
            '--json',
            '{"name": "Short memory", "privacy": {"retention_days": 30}}',
          )
        ).out,
      ) as { id: number };
      const [old, ofDeleted] = [await talk('long ago', { botId: made.id }), await talk('long ago', { botId: 4_000 })];
      await host.database
        .knex('svc_conversations')
        .whereIn('id', [old.id, ofDeleted.id])
        .update({ last_message_at: host.clock.now() - 31 * day });
      const young = await talk('just now', { botId: made.id });
      await host.hooks.doActionAsync('svc_logs_retention');
      expect(await store.find(old.uuid)).to.equal(null);
      expect(await store.find(young.uuid)).not.to.equal(null);
      expect(await store.find(ofDeleted.uuid)).not.to.equal(null);
    });

    it('moves to the heir of a deleted user, or stays without session and IP address', async () => {
      const [one, two, heir] = await Promise.all(
        ['one', 'two', 'heir'].map((login) =>
          host.users.create({ login, email: `${login}@example.com`, password: 'a long password' }),
        ),
      );
      const inherited = await talk('mine', { userId: one?.id ?? 0 });
      const orphaned = await talk('mine too', { userId: two?.id ?? 0 });
      await host.users.delete(one?.id ?? 0, { reassignTo: heir?.id ?? 0 });
      await host.users.delete(two?.id ?? 0);
      expect(await store.find(inherited.uuid)).to.include({ userId: heir?.id });
      expect(await store.find(orphaned.uuid)).to.include({ userId: two?.id, sessionId: null, ip: '' });
    });
  });
}
