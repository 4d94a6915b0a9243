import { expect } from 'chai';
import { typedRoute, type Infer, type JsonSchema } from '#plugin-api';

/** True if the types are the same, `readonly` aside. */
type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : false) : false;

const schema = {
  type: 'object',
  required: ['listed'],
  properties: {
    listed: { type: 'integer' },
    inside: { type: 'string', required: true },
    preset: { type: 'boolean', default: false },
    maybe: { type: ['number', 'null'] },
    one: { enum: ['a', 'b'] },
    either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    tagged: { oneOf: [{ const: 1 }, { const: 'x' }] },
    map: { type: 'object', additionalProperties: { type: 'integer' } },
  },
} as const satisfies JsonSchema;

interface Expected {
  readonly listed: number;
  readonly inside: string;
  readonly preset: boolean;
  readonly maybe?: number | null;
  readonly one?: 'a' | 'b';
  readonly either?: string | readonly string[];
  readonly tagged?: 1 | 'x';
  readonly map?: Readonly<Record<string, number>>;
}

describe('Infer', () => {
  it('is the type that a schema describes', () => {
    const isSame: Same<Infer<typeof schema>, Expected> = true;
    expect([isSame, schema.type]).to.deep.equal([true, 'object']);
  });

  it('gives the parameters of a route the types of its arguments', () => {
    const route = typedRoute({
      args: { page: { type: 'integer', default: 1 }, search: { type: 'string' } },
      handler: ({ params: { page, search } }) => {
        const isSame: Same<[typeof page, typeof search], [number, string | undefined]> = true;
        return { isSame, page, search };
      },
    });
    expect(route.handler({ params: { page: 2 } } as never)).to.deep.equal({ isSame: true, page: 2, search: undefined });
  });
});
