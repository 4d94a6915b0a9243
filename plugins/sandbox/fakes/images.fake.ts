import { recipeAt } from '../images/image-address.ts';
import { drawPicture } from '../images/picture.ts';
import type { Fake, FakeResponse } from '../fake.ts';

const plain = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): FakeResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  chunks: [text],
});

const notFound = (): FakeResponse => plain(404, 'There is no such picture.');

/** The pictures whose addresses the fakes of providers give away. As with the real ones, the address is enough. */
export const fakeImages: Fake = {
  id: 'images',
  label: 'Pictures',
  refuse: () => null,
  errors: {
    unknownPath: notFound,
    badJson: notFound,
    tooLarge: () => plain(413, 'A picture is asked for without a body.'),
    rateLimited: (_, retryAfter) => plain(429, 'Too many requests.', { 'retry-after': String(retryAfter) }),
    serverError: () => plain(500, 'The picture could not be read.'),
  },
  routes: [
    {
      method: 'GET',
      path: /^\/[\w-]+\.png$/,
      handle: ({ path }) => {
        const recipe = recipeAt(path);
        if (!recipe) return notFound();
        return {
          status: 200,
          headers: { 'content-type': 'image/png', 'cache-control': 'public, max-age=3600' },
          chunks: [drawPicture(recipe)],
        };
      },
    },
  ],
};
