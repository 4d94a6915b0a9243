import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { apiKeyDigest, requireApiKey, type KeyedRequest } from '../../../plugins/svc/kit/require-api-key.ts';

const key = 'correct horse';

function request(parts: Partial<KeyedRequest> = {}): KeyedRequest {
  return { headers: {}, json: null, form: {}, query: {}, url: {}, countWrongKey: async () => undefined, ...parts };
}

async function outcome(parts: Partial<KeyedRequest>, stored: string | null = key): Promise<'in' | RestError> {
  const check = requireApiKey({ digest: async () => (stored === null ? null : apiKeyDigest(stored)) });
  try {
    await check(request(parts));
    return 'in';
  } catch (error) {
    if (error instanceof RestError) return error;
    throw error;
  }
}

describe('the REST API key', () => {
  const lettingIn: Record<string, Partial<KeyedRequest>> = {
    'the header': { headers: { authorization: `Bearer ${key}` } },
    'the header with its scheme in lower case': { headers: { authorization: `bearer ${key}` } },
    'the header with its scheme in upper case': { headers: { authorization: `BEARER ${key}` } },
    'the header with white space around the token': { headers: { authorization: `Bearer   ${key}  ` } },
    'the JSON body': { json: { svc_api_key: key } },
    'the form body': { form: { svc_api_key: key } },
    'the query': { query: { svc_api_key: key } },
    'the query while the header is wrong': { headers: { authorization: 'Bearer wrong' }, query: { svc_api_key: key } },
    'the header while the parameter is wrong': {
      headers: { authorization: `Bearer ${key}` },
      query: { svc_api_key: 'wrong' },
    },
    'the query while the JSON body is wrong': { json: { svc_api_key: 'wrong' }, query: { svc_api_key: key } },
    'the JSON body while form and query are wrong': {
      json: { svc_api_key: key },
      form: { svc_api_key: 'a' },
      query: { svc_api_key: 'b' },
    },
  };
  for (const [name, parts] of Object.entries(lettingIn)) {
    it(`is accepted as ${name}`, async () => {
      expect(await outcome(parts)).to.equal('in');
    });
  }

  it('counts each request with a wrong key, and none without a key or with the right one', async () => {
    let count = 0;
    const countWrongKey = async (): Promise<void> => void (count += 1);
    const given: [parts: Partial<KeyedRequest>, counted: number][] = [
      [{}, 0],
      [{ headers: { authorization: 'Basic abc' } }, 0],
      [{ headers: { authorization: `Bearer ${key}` } }, 0],
      [{ headers: { authorization: 'Bearer wrong' }, query: { svc_api_key: key } }, 0],
      [{ headers: { authorization: 'Bearer wrong' } }, 1],
      [{ headers: { authorization: 'Bearer wrong' }, json: { svc_api_key: 'wrong too' } }, 1],
      [{ query: { svc_api_key: 'wrong' } }, 1],
    ];
    for (const [parts, counted] of given) {
      count = 0;
      await outcome({ ...parts, countWrongKey });
      expect(count, JSON.stringify(parts)).to.equal(counted);
    }
    const tooMany = new RestError({ code: 'too_many_login_attempts', message: 'Wait.', status: 429 });
    expect(await outcome({ query: { svc_api_key: 'wrong' }, countWrongKey: () => Promise.reject(tooMany) })).to.include(
      { status: 429 },
    );
  });

  const refused: Record<string, Partial<KeyedRequest>> = {
    'no key': {},
    'an empty token': { headers: { authorization: 'Bearer ' } },
    'another scheme': { headers: { authorization: `Basic ${key}` } },
    'the bare key as header': { headers: { authorization: key } },
    'a longer key': { headers: { authorization: `Bearer ${key}x` } },
    'the key in other case': { headers: { authorization: `Bearer ${key.toUpperCase()}` } },
    'an array as parameter': { json: { svc_api_key: [key] } },
    'an object as parameter': { json: { svc_api_key: { toString: key } } },
    'a body that is a list': { json: [key] },
    'an inherited parameter': { json: Object.create({ svc_api_key: key }) as unknown },
  };
  for (const [name, parts] of Object.entries(refused)) {
    it(`rejects ${name} with the one error of contract 7`, async () => {
      const error = await outcome(parts);
      expect(error).to.include({
        code: 'rest_svc_invalid_api_key',
        status: 401,
        message: 'Invalid or missing API Key.',
      });
      expect((error as RestError).data).to.equal(undefined);
    });
  }

  for (const parts of [
    {},
    { headers: { authorization: 'Bearer ' } },
    { headers: { authorization: 'Bearer x' } },
    { query: { svc_api_key: '' } },
    { json: { svc_api_key: '' } },
  ]) {
    it(`rejects ${JSON.stringify(parts)} while no key is stored`, async () => {
      expect(await outcome(parts, null)).to.include({ code: 'rest_svc_invalid_api_key' });
    });
  }

  it('finds a key beyond ASCII, sent as UTF-8 bytes or as Latin-1', async () => {
    const sentAsUtf8 = Buffer.from('schlüssel', 'utf8').toString('latin1');
    expect(await outcome({ headers: { authorization: `Bearer ${sentAsUtf8}` } }, 'schlüssel')).to.equal('in');
    expect(await outcome({ headers: { authorization: 'Bearer schlüssel' } }, 'schlüssel')).to.equal('in');
  });

  for (const stored of [key, 'another', null]) {
    it(`removes the parameter from every source, with ${stored ?? 'no key'} stored`, async () => {
      const parts = {
        headers: { authorization: `Bearer ${key}` },
        json: { svc_api_key: key, a: 1 },
        form: { svc_api_key: key },
        query: { svc_api_key: key },
        url: { svc_api_key: key },
      };
      await outcome(parts, stored);
      expect([parts.json, parts.form, parts.query, parts.url]).to.deep.equal([{ a: 1 }, {}, {}, {}]);
    });
  }
});
