import type { CliCommand } from '#plugin-api';
import { readInput } from '../../../kit/transfer-commands.ts';
import { tokenKinds } from '../../../kit/token-details.ts';
import type { PricesPort } from '../../../ports.ts';
import { defaultPricesDate } from './default-prices.ts';

/** `svc prices list|set|import|reset`. */
export function priceCommands({ prices }: PricesPort): CliCommand[] {
  return [
    {
      name: 'svc prices list',
      description:
        'List the current prices, your own first: US dollars per million tokens, per image and per second of video.',
      flags: { provider: { type: 'string', description: 'Only those of a provider, such as openai.' } },
      run: async ({ flags }) => {
        const own = await prices.own();
        const list = await prices.list();
        const line = (source: string) => (price: (typeof own)[number]) => ({
          source,
          provider: price.provider,
          model: price.model,
          size: price.size ?? '',
          quality: price.quality ?? '',
          min_input_tokens: price.min_input_tokens ?? '',
          input: price.input ?? '',
          output: price.output ?? '',
          image: price.image ?? '',
          second: price.second ?? '',
          ...Object.fromEntries(tokenKinds.map((kind) => [kind, price[kind] ?? ''])),
          from: price.from ?? '',
          until: price.until ?? '',
        });
        return [
          ...own.map(line('own')),
          ...list.prices.map(line(list.isBuiltIn ? 'built-in' : `list of ${list.date}`)),
        ].filter(({ provider }) => flags['provider'] === undefined || flags['provider'] === provider);
      },
    },
    {
      name: 'svc prices set',
      description: 'Replace your own prices, which override the built-in ones.',
      args: [
        {
          name: 'json',
          description:
            'A list: [{"provider": "openai", "model": "gpt-5*", "input": 2.5, "output": 15}]. A price of images can be ' +
            'that of a size and a quality: {"provider": "openai", "model": "dall-e-3", "size": "1024x1792", ' +
            '"quality": "hd", "image": 0.12}',
        },
      ],
      run: async ({ args: [json = ''] }) => ({ own: await prices.save(json) }),
    },
    {
      name: 'svc prices import',
      description: 'Replace the built-in prices with those of a file. Your own prices still override them.',
      args: [
        {
          name: 'file',
          description:
            'A JSON file, or - for standard input: {"date": "2026-12-01", "prices": [{"provider": "openai", ' +
            '"model": "gpt-5*", "input": 2.5, "cached_input": 0.25, "output": 15, "from": "2026-12-01"}]}',
        },
      ],
      run: async ({ args: [file = '-'] }) => {
        const { date, prices: imported } = await prices.importList(String(await readInput(file)));
        return { date, imported: imported.length };
      },
    },
    {
      name: 'svc prices reset',
      description: 'Remove your own prices.',
      flags: { list: { type: 'boolean', description: 'Replace an imported list by the built-in one instead.' } },
      run: async ({ flags }) => {
        if (flags['list'] === true) {
          await prices.resetList();
          return { date: defaultPricesDate };
        }
        await prices.reset();
        return { own: 0 };
      },
    },
  ];
}
