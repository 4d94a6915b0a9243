import { expect } from 'chai';
import { refuseNonces, startRestSite } from '../rest/site.ts';
import type { RestSite } from '../rest/site.ts';
import { isSame, readRecording, withSite } from './replay.ts';
import { restExceptions } from './rest-exceptions.ts';
import { registerOracleRoutes } from './rest-routes.ts';

interface Recorded {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

const recorded = JSON.parse(readRecording('rest.json.gz')) as Recorded[];
const comparable = recorded.filter(({ path }) => !path.startsWith('/wp-json/wp/v2/'));

describe('REST responses recorded from WordPress', () => {
  let site: RestSite;
  before(async () => {
    site = await startRestSite({ currentUser: refuseNonces });
    registerOracleRoutes(site.rest);
  });
  after(() => site.stop());

  for (const row of comparable) {
    const reason = restExceptions[row.id];
    if (reason === undefined) {
      it(`${row.method} ${row.path} (${row.id})`, async () => {
        expect(await difference(site, row)).to.equal(null);
      });
    } else {
      it(`differs on purpose: ${row.method} ${row.path} (${row.id}): ${reason}`, async () => {
        expect(await difference(site, row)).to.not.equal(null);
      });
    }
  }

  it('are matched by at least 95 of 100', () => {
    const missed = comparable.filter(({ id }) => restExceptions[id] !== undefined).length;
    expect(missed / comparable.length).to.be.at.most(0.05);
  });

  it('have no exception for a row that is not there', () => {
    const ids = new Set(comparable.map(({ id }) => id));
    expect(Object.keys(restExceptions).filter((id) => !ids.has(id))).to.deep.equal([]);
  });
});

/** The first difference as one sentence, or null. */
async function difference(site: RestSite, row: Recorded): Promise<string | null> {
  const answer = withSite(row.answer, site.url);
  const response = await site.fetch(row.path, { method: row.method, headers: row.headers, body: row.body });
  if (response.status !== answer.status)
    return `status ${response.status}, recorded ${answer.status}: ${await response.text()}`;
  for (const [name, value] of Object.entries(answer.headers)) {
    const actual = response.headers.get(name);
    // Ours adds the discovery link behind an answer's own links (D1).
    const isSameHeader = name === 'link' ? actual?.startsWith(value) === true : actual === value;
    if (!isSameHeader) return `header ${name} is ${String(actual)}, recorded ${value}`;
  }
  if (answer.headers['allow'] === undefined && response.headers.has('allow')) return 'there is a header Allow';
  const text = await response.text();
  const body: unknown = text === '' ? '' : JSON.parse(text);
  return isSame(body, answer.body) ? null : `body ${text}, recorded ${JSON.stringify(answer.body)}`;
}
