import type { CliCommand } from '#plugin-api';
import type { PricesPort } from '../../../ports.ts';
import { defaultPrices } from './default-prices.ts';

/** `svc prices list|set|reset`. */
export function priceCommands({ prices }: PricesPort): CliCommand[] {
  return [
    {
      name: 'svc prices list',
      description:
        'List the current prices, your own first: US dollars per million tokens, per image and per second of video.',
      run: async () => {
        const own = await prices.own();
        const line = (source: string) => (price: (typeof own)[number]) => ({
          source,
          provider: price.provider,
          model: price.model,
          size: price.size ?? '',
          quality: price.quality ?? '',
          input: price.input ?? '',
          output: price.output ?? '',
          image: price.image ?? '',
          second: price.second ?? '',
        });
        return [...own.map(line('own')), ...defaultPrices.map(line('built-in'))];
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
      name: 'svc prices reset',
      description: 'Remove your own prices.',
      run: async () => {
        await prices.reset();
        return { own: 0 };
      },
    },
  ];
}
