import { expect } from 'chai';
import { matchesFilter, readContentFilter } from '../../../plugins/svc/webhooks/content-filter.ts';
import type { Envelope } from '../../../plugins/svc/webhooks/event.ts';

const envelope = {
  id: 'e-1',
  type: 'form.submitted',
  occurred_at: '2026-11-29T10:00:00+00:00',
  resource: { type: 'form', id: '7', label: 'Order' },
  data: {
    form: { id: 7, name: 'Order' },
    actor: { type: 'guest', user_id: null },
    fields: [
      { id: 'size', value: 'XL' },
      { id: 'count', value: 3 },
    ],
    tags: ['new', 'vip'],
  },
  meta: { 'odd.name': 1, provider: 'openai' },
} as unknown as Envelope;

const matches = (filter: unknown): boolean => readContentFilter(JSON.stringify(filter))(envelope);

describe('filters of webhook endpoints', () => {
  const cases: readonly [filter: unknown, matches: boolean][] = [
    [{}, true],
    [{ type: 'form.submitted' }, true],
    [{ type: 'image.generated' }, false],
    [{ 'data.form.id': 7 }, true],
    [{ 'data.form.id': '7' }, false],
    [{ data: { form: { id: 7, name: { $startsWith: 'Ord' } } } }, true],
    [{ data: { 'form.id': 8 } }, false],
    [{ 'data.form.id': { $gt: 6, $lt: 8 } }, true],
    [{ 'data.form.id': { $gte: 7, $lte: 6 } }, false],
    [{ 'data.form.name': { $gt: 6 } }, false],
    [{ occurred_at: { $gte: '2026-11-29', $lt: '2026-11-30' } }, true],
    [{ 'data.fields.value': 'XL' }, true],
    [{ 'data.fields.value': { $in: ['S', 3] } }, true],
    [{ 'data.fields.value': { $ne: 'XL' } }, false],
    [{ 'data.tags': 'vip' }, true],
    [{ 'data.tags': { $startsWith: 'v' } }, true],
    [{ 'data.actor.user_id': null }, true],
    [{ 'data.actor.user_id': { $exists: true } }, true],
    [{ 'data.actor.name': { $exists: false } }, true],
    [{ 'data.actor.name': null }, false],
    [{ 'data.constructor.name': { $exists: true } }, false],
    [{ $or: [{ type: 'x' }, { 'meta.provider': 'openai' }] }, true],
    [{ $or: [{ type: 'x' }, { $and: [{ type: 'form.submitted' }, { 'data.form.id': 1 }] }] }, false],
  ];
  for (const [filter, expected] of cases)
    it(`${JSON.stringify(filter)} ${expected ? 'matches' : 'does not match'}`, () => {
      expect(matches(filter)).to.equal(expected);
    });

  const deep = JSON.parse(`${'{"$and":['.repeat(9)}{}${']}'.repeat(9)}`) as unknown;
  const refused: readonly [text: string, sentence: RegExp][] = [
    ['{"type":', /^The filter is not valid JSON: /],
    ['[]', /^A filter is an object like /],
    ['"x"', /^A filter is an object like /],
    ['{"bot.id":1}', /^No event has the member “bot”\. A path begins with id, type, /],
    ['{"data..id":1}', /^“data\.\.id” is not a path\.$/],
    ['{"data.id":{"$regex":"x"}}', /^There is no operator \$regex\. Use \$eq, /],
    ['{"data.id":{"$gt":1,"name":2}}', /^There is no operator name\. /],
    ['{"data.id":[1]}', /a list needs \$in\.$/],
    ['{"data.id":{"$in":[]}}', /^\$in takes a list of 1 to 100 values\.$/],
    ['{"data.id":{"$gt":true}}', /^\$gt takes a number or a text\.$/],
    ['{"data.id":{"$exists":1}}', /^\$exists takes true or false\.$/],
    ['{"$gt":1}', /^\$gt is used without a path\./],
    ['{"$or":{}}', /^\$or takes a list of filters\.$/],
    [JSON.stringify(deep), /^A filter may be nested 8 deep\.$/],
    [`{"$or":[${Array<string>(101).fill('{"type":"x"}').join()}]}`, /^A filter may have 100 comparisons\.$/],
  ];
  for (const [text, sentence] of refused)
    it(`${text.slice(0, 50)} is refused`, () => {
      expect(() => readContentFilter(text)).to.throw(sentence);
      expect(matchesFilter(text, envelope)).to.equal(true);
    });

  it('decide 2,000 random events as the expression that they were written from', () => {
    const random = createRandom(7);
    const values = [0, 1, 2, 'a', 'ab', 'b', true, null] as const;
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
    type Event = Record<string, unknown>;
    type Case = readonly [filter: Event, decide: (event: Event) => boolean];
    const comparison = (): Case => {
      const [member, value] = [pick(['p', 'q', 'r']), pick(values)];
      const path = `data.${member}`;
      const has = (event: Event): boolean => member in event;
      const kinds: readonly Case[] = [
        [{ [path]: value }, (event) => has(event) && event[member] === value],
        [{ [path]: { $ne: value } }, (event) => !has(event) || event[member] !== value],
        [{ [path]: { $in: [value, 1] } }, (event) => has(event) && (event[member] === value || event[member] === 1)],
        [{ [path]: { $exists: value !== 0 } }, (event) => has(event) === (value !== 0)],
        [{ [path]: { $gt: 0 } }, (event) => typeof event[member] === 'number' && event[member] > 0],
        [{ [path]: { $startsWith: 'a' } }, (event) => String(event[member] ?? '').startsWith('a')],
      ];
      return pick(kinds);
    };
    const expression = (depth: number): Case => {
      const kind = depth === 0 ? 0 : Math.floor(random() * 3);
      if (kind === 0) return comparison();
      const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => expression(depth - 1));
      const filters = parts.map(([filter]) => filter);
      return kind === 1
        ? [{ $and: filters }, (event) => parts.every(([, decide]) => decide(event))]
        : [{ $or: filters }, (event) => parts.some(([, decide]) => decide(event))];
    };
    const results = new Map<boolean, number>();
    for (let turn = 0; turn < 2_000; turn += 1) {
      const data: Event = {};
      for (const member of ['p', 'q', 'r']) if (random() < 0.7) data[member] = pick(values);
      const [filter, decide] = expression(3);
      const expected = decide(data);
      results.set(expected, (results.get(expected) ?? 0) + 1);
      const decided = readContentFilter(JSON.stringify(filter))({ data } as unknown as Envelope);
      expect(decided, JSON.stringify({ filter, data })).to.equal(expected);
    }
    expect(Math.min(...results.values())).to.be.greaterThan(400);
  });
});

/** Numbers from 0 to 1 that a seed repeats. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
