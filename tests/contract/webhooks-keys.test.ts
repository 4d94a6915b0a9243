import { expect } from 'chai';
import { describeSites, eventOf, names } from './webhook-site.ts';

type Data = Record<string, unknown>;

/** Paths of the ids that make an act what it is (D19), and of what is told of it besides. */
const natural: Readonly<Record<string, readonly string[]>> = {
  'chatbot.session_started': ['conversation.id'],
  'chatbot.user_message_submitted': ['conversation.id', 'message.id'],
  'chatbot.response_generated': ['conversation.id', 'response.id'],
  'chatbot.fb_submitted': ['conversation.id', 'feedback.message_id', 'feedback.comment'],
  'chatbot.form_submitted': ['submission.id'],
  'task.item_completed': ['queue_item.id', 'queue_item.status', 'queue_item.attempts'],
  'form.submitted': ['form.id', 'submission.id'],
  'kb.source_indexed': ['source.log_id'],
};
const numbers = new Set(['queue_item.attempts', 'form.submitted submission.id']);
/** Ids that run into each other when they are joined without care. */
const awkward = [
  'a',
  'a,b',
  'b',
  'a","b',
  '1',
  '11',
  '',
  ' ',
  'a\u0000b',
  'null',
  '[]',
  'é',
  'e\u0301',
  '|',
  'a|',
  '|a',
];

function withValue(data: Data, path: string, value: unknown): Data {
  const [step = '', ...rest] = path.split('.');
  return { ...data, [step]: rest.length === 0 ? value : withValue((data[step] ?? {}) as Data, rest.join('.'), value) };
}

/** The same numbers in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describeSites('idempotency keys', (site) => {
  const keyOf = async (name: string, data: Data): Promise<string> =>
    (await site().operator.emit(name, data)).envelope?.idempotency_key ?? 'none';

  it('are one for each act: over all events and random ids, equal ids give equal keys and no two different acts share one', async () => {
    const random = createRandom(20_260_521);
    const owners = new Map<string, string>();
    for (const [name, paths] of Object.entries(natural)) {
      for (let round = 0; round < 150; round += 1) {
        const ids = paths.map((path) =>
          numbers.has(path) || numbers.has(`${name} ${path}`) ? random(12) : awkward[random(awkward.length)],
        );
        const data = paths.reduce(
          (made, path, index) => withValue(made, path, ids[index]),
          eventOf(name).example as Data,
        );
        const [act, key] = [JSON.stringify([name, ids]), await keyOf(name, data)];
        expect(key, act).to.match(/^[0-9a-f]{64}$/);
        expect(owners.get(key) ?? act).to.equal(act);
        expect(await keyOf(name, data), act).to.equal(key);
        owners.set(key, act);
      }
    }
    expect(new Set(owners.values()).size).to.equal(owners.size);
  });

  it('do not change with what is told of the act besides', async () => {
    const name = 'chatbot.response_generated';
    const data = eventOf(name).example as Data;
    const key = await keyOf(name, data);
    for (const changed of [
      withValue(data, 'bot.name', 'Renamed'),
      withValue(data, 'ai.model', 'other'),
      withValue(data, 'conversation.message_count', 99),
      withValue(data, 'response.text', 'other'),
    ])
      expect(await keyOf(name, changed)).to.equal(key);
  });

  it('of acts whose ids are not known are never shared', async () => {
    for (const name of names) {
      const data = structuredClone(eventOf(name).example) as { message?: Data; response?: Data; outputs?: Data };
      if (
        ![
          'chatbot.user_message_submitted',
          'chatbot.response_generated',
          'content.generated',
          'image.generated',
        ].includes(name)
      )
        continue;
      delete data.message?.['id'];
      delete data.response?.['id'];
      if (data.outputs) data.outputs = {};
      expect(await keyOf(name, data as Data), name).not.to.equal(await keyOf(name, data as Data));
    }
  });

  it('of pictures are those of what was made, or of the key that the caller gives', async () => {
    const { example } = eventOf('image.generated');
    const made = (ids: readonly number[], key: readonly string[] = []) =>
      site().operator.emit(
        'image.generated',
        { ...example, outputs: { images: ids.map((id) => ({ media_id: id })) } },
        { key },
      );
    const keys = (
      await Promise.all([made([1, 2]), made([1, 2]), made([12]), made([2, 1]), made([1], ['2']), made([1, 2], ['2'])])
    ).map(({ envelope }) => envelope?.idempotency_key);
    expect(keys[0]).to.equal(keys[1]);
    expect(new Set(keys).size).to.equal(5);
  });
});
