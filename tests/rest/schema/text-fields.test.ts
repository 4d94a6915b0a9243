import { expect } from 'chai';
import { leastProcessorTime } from '../../helpers/processor-time.ts';
import { formats } from '../../../host/rest/schema/formats.ts';
import { sanitizeTextareaField, sanitizeTextField, sanitizeUrl } from '../../../host/rest/schema/text-fields.ts';

describe('text fields', () => {
  const cases: readonly [text: string, field: string][] = [
    ['plain', 'plain'],
    ['  a \n\t b  ', 'a b'],
    ['<b>bold</b> text', 'bold text'],
    ['a<script>alert(1)</script>b', 'ab'],
    ['<style>p{}</style>x', 'x'],
    ['a < b', 'a &lt; b'],
    ['1 < 2 and <i>3</i>', '1 &lt; 2 and 3'],
    ['<a title="x>y">link</a>', 'link'],
    ['100%25 sure%0A', '100 sure'],
    ['%2%355', ''],
    ['%%%41414141', '41'],
    ['a<script>1</style>2</SCRIPT>b<style>3', 'ab3'],
    ['<script>1<script>2</script>3', '3'],
  ];
  for (const [text, field] of cases) {
    it(`'${text}' becomes '${field}'`, () => {
      expect(sanitizeTextField(text)).to.equal(field);
    });
  }

  for (const [name, text] of [
    ['scripts without an end', '<script>'.repeat(100_000)],
    ['nested escapes', '%'.repeat(200_000) + '41'.repeat(200_000)],
    ['opening brackets', '<'.repeat(500_000)],
  ] as const)
    it(`take linear time for ${name}`, async () => {
      expect(await leastProcessorTime(() => Promise.resolve(sanitizeTextField(text)))).to.be.below(2_000);
    });

  it('of several lines keep their lines', () => {
    expect(sanitizeTextareaField(' a\n  b<i>c</i> ')).to.equal('a\n  bc');
  });
});

describe('addresses', () => {
  const cases: readonly [text: string, url: string][] = [
    ['', ''],
    ['example.com', 'http://example.com'],
    ['https://a.b/c?d=e#f', 'https://a.b/c?d=e#f'],
    ['/path', '/path'],
    ['#top', '#top'],
    ['not a uri', 'http://not%20a%20uri'],
    ['javascript:alert(1)', ''],
    ['JAVASCRIPT:alert(1)', ''],
    ['data:text/html,x', ''],
    ['mailto:a@b.co', 'mailto:a@b.co'],
    ['http://a.b/%0d%0aSet-Cookie', 'http://a.b/Set-Cookie'],
    ['http://[::1]/a[1]', 'http://[::1]/a%5B1%5D'],
    ['http://a.b/"<>^', 'http://a.b/'],
    ['http://müller.de/é', 'http://müller.de/é'],
  ];
  for (const [text, url] of cases) {
    it(`'${text}' becomes '${url}'`, () => {
      expect(sanitizeUrl(text)).to.equal(url);
    });
  }
});

describe('formats', () => {
  const cases: readonly [format: string, accepted: readonly string[], refused: readonly string[]][] = [
    ['email', ['a@b.co', 'a+b@c-d.example'], ['a@b', 'a@b..co', '@b.co', 'a b@c.de', 'a@-b.co', 'a@b.c@d.ef']],
    ['ip', ['1.2.3.4', '::1', '2001:db8::1'], ['1.2.3', '256.1.1.1', 'fe80::1%eth0', 'a']],
    [
      'date-time',
      ['2026-01-01T00:00:00Z', '2026-01-01 00:00:00', '2026-12-31T23:59:59.123+02:00'],
      ['2026-01-01', '2026-13-01T00:00:00Z', 'now'],
    ],
    ['date', ['2026-01-31'], ['2026-13-01', '2026-1-1', '2026-01-01T00:00:00Z']],
    ['uuid', ['6f9619ff-8b86-d011-b42d-00c04fc964ff'], ['6f9619ff', '6f9619ff8b86d011b42d00c04fc964ff']],
    ['hex-color', ['#fff', '#A1b2C3'], ['fff', '#ffff', '#ggg']],
  ];
  for (const [name, accepted, refused] of cases) {
    it(`${name} accepts valid and refuses invalid text`, () => {
      expect(accepted.filter((text) => formats[name]?.accepts(text) === false)).to.deep.equal([]);
      expect(refused.filter((text) => formats[name]?.accepts(text) === true)).to.deep.equal([]);
    });
  }
});
