import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

/** Left is where lines begin in English alone; the side of the window that a chatbot was given is left in every language. */
const physical =
  /^\s+(?:(?:margin|padding|border)-(?:left|right)[\w-]*|left|right|float|text-align): (?!.*(?:center|start|end));?/;
const allowed = /-999rem|safe-area|padding-right: 2\.25rem/;

describe('the style sheets of the admin', () => {
  for (const folder of ['host/admin/assets', 'plugins/svc/assets'])
    it(`name sides by the direction of the text in ${folder}`, () => {
      const root = new URL(`../../${folder}/`, import.meta.url);
      const files = readdirSync(root).filter((file) => file.endsWith('.css'));
      expect(files).not.to.deep.equal([]);
      const found = files.flatMap((file) =>
        readFileSync(new URL(file, root), 'utf8')
          .split('\n')
          .filter((line) => physical.test(line) && !allowed.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
      expect(found).to.deep.equal([]);
    });
});
