import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { goodRequest, startService, type Service } from './service.ts';

const gpt = { provider: 'openai', model: 'gpt-4o-mini*' };

describeHosts('a price list from a file', ({ location, directory }) => {
  describe('on a separate site', () => {
    let service: Service;
    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      service = await startService({ database: databaseUrl ?? dataDir });
    });
    afterEach(() => service.stop());

    const svc = (...argv: string[]) => service.host.cli('svc', ...argv, '--json');
    async function print<Printed>(...argv: string[]): Promise<Printed> {
      const { code, out, err } = await svc(...argv);
      expect(code, err).to.equal(0);
      return JSON.parse(out) as Printed;
    }
    async function write(text: string): Promise<string> {
      const file = join(directory(), 'prices.json');
      await writeFile(file, text);
      return file;
    }
    /** Millionths of a US dollar for each token of one more call. */
    async function priceOfCall(): Promise<number> {
      expect((await service.generate(goodRequest)).status).to.equal(200);
      await print('usage');
      const { knex } = service.host.database;
      const [row] = (await knex('svc_usage').orderBy('id', 'desc').limit(1)) as Record<string, unknown>[];
      return Number(row?.['cost']) / (Number(row?.['input_tokens']) + Number(row?.['output_tokens']));
    }

    it('applies to new calls by their day, below the own prices, until the built-in list is restored', async () => {
      const prices = [
        { ...gpt, input: 1000, output: 1000, until: '2026-01-31' },
        { ...gpt, input: 3000, output: 3000, from: '2026-02-01' },
      ];
      const file = await write(JSON.stringify({ date: '2026-01-01', prices }));
      expect(await print('prices', 'import', file)).to.deep.equal({ date: '2026-01-01', imported: 2 });
      const listed = await print<{ source: string; from: string }[]>('prices', 'list');
      expect(listed.map(({ source, from }) => [source, from])).to.deep.equal([
        ['list of 2026-01-01', ''],
        ['list of 2026-01-01', '2026-02-01'],
      ]);
      expect(await priceOfCall()).to.equal(1000);
      service.clock.jump(Date.UTC(2026, 1, 1) - service.clock.now());
      expect(await priceOfCall()).to.equal(3000);
      await print('prices', 'set', JSON.stringify([{ ...gpt, input: 5000, output: 5000 }]));
      expect(await priceOfCall()).to.equal(5000);
      await print('prices', 'reset');
      expect(await priceOfCall()).to.equal(3000);
      await print('prices', 'reset', '--list');
      expect(await priceOfCall()).to.be.below(1);
      expect((await print<{ source: string }[]>('prices', 'list'))[0]?.source).to.equal('built-in');
    });

    it('is refused as a whole with the line of each error', async () => {
      const error = async (text: string): Promise<string> => (await svc('prices', 'import', await write(text))).err;
      const good = JSON.stringify({ ...gpt, input: 1 });
      expect(await error(`{\n"date": "2026-01-01",\n"prices": [\n${good},\n{"provider": "openai", "model": "x"}]\n}`))
        .to.include('Line 5: Set at least one price')
        .and.not.include('Line 4');
      expect(await error(`{"date": "2026-01-01",\n"prices": [\n${good}\n${good}]}`)).to.include('Line 4: The JSON is');
      for (const text of ['[]', '{"prices": []}', '{"date": "soon", "prices": []}', `{"date": "2026-01-01", "x": [1]}`])
        expect(await error(text), text).to.include('Line 1: Write an object: {"date": "2026-12-01", "prices": [...]}.');
      expect((await svc('prices', 'import', join(directory(), 'none.json'))).err).to.include('cannot be read');
      expect((await print<{ source: string }[]>('prices', 'list'))[0]?.source).to.equal('built-in');
    });
  });
});
