import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { catalogErrors, missingTexts, pluralFormsOf, readCatalog, translatedSlugs, type Catalog } from './catalogs.ts';
import { textsOf, type Texts } from './texts.ts';

const forms = pluralFormsOf('de');

describe('the German catalogs', () => {
  for (const slug of translatedSlugs)
    describe(slug, () => {
      let texts: Texts;
      let german: Catalog;
      before(() => {
        texts = textsOf(slug);
        german = readCatalog(slug, 'de');
      });

      it('lacks no text', () => {
        expect(Object.keys(missingTexts(texts, german, forms))).to.deep.equal([]);
      });

      it('has the texts of the program, with their values, elements and plural forms', () => {
        expect(catalogErrors(texts, german, forms)).to.deep.equal([]);
      });
    });
});

describe('translated attributes of templates', () => {
  it('are those that people read: tokens such as those of aria-sort stay', () => {
    const read =
      /^(alt|title|placeholder|label|value|content|data-[a-z-]+|aria-(label|description|roledescription|valuetext))$/;
    const files = execFileSync('git', ['ls-files', '*.hbs'], { encoding: 'utf8' }).trim().split('\n');
    const wrong = files
      .filter(existsSync)
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/\s([a-z-]+)="[^"<>]*\{\{_[_n] /g)].flatMap(([, name = '']) =>
          read.test(name) ? [] : [`${file}: ${name}`],
        ),
      );
    expect(wrong).to.deep.equal([]);
  });
});

describe('labels of links and buttons', () => {
  /** Without what a template fills in, as voice control hears it. */
  const spoken = (text: string): string =>
    text
      .replace(/\{[^{}]*\}/g, '')
      .replace(/[{}]/g, '')
      .replace(/<[^<>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .toLowerCase();

  it('contain what they show, in English and German (WCAG 2.5.3)', () => {
    const german = new Map(
      translatedSlugs.flatMap((slug) =>
        Object.entries(readCatalog(slug, 'de')).map(([text, translated]) => [spoken(text), [translated].flat()]),
      ),
    );
    const files = execFileSync('git', ['ls-files', '*.hbs'], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .filter(existsSync);
    const labelled = /<(a|button|summary)\b[^>]*?\saria-label="([^"]*)"[^>]*>(.*?)<\/\1>/gs;
    const pairs = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(labelled)].map(([, , label = '', content = '']) => ({
        file,
        label: spoken(label),
        shown: spoken(content.replace(/<svg.*?<\/svg>/gs, '')),
      })),
    );
    expect(pairs.length).to.be.greaterThan(20);
    const wrong = pairs.filter(({ label, shown }) => {
      const [translatedLabel, translated] = [german.get(label), german.get(shown)];
      return (
        !label.includes(shown) ||
        (translatedLabel?.some((one) => !translated?.some((text) => spoken(one).includes(spoken(text)))) &&
          translated !== undefined)
      );
    });
    expect(wrong).to.deep.equal([]);
  });
});

describe('the check of a catalog', () => {
  const texts: Texts = new Map([
    ['Set <1>a secret</1> for {name}.', { file: 'a.hbs' }],
    ['{count} day', { file: 'a.ts', many: '{count} days' }],
  ]);
  const errorsOf = (catalog: Catalog): string[] => catalogErrors(texts, catalog, 2);

  it('finds nothing wrong in a good one', () => {
    const good = {
      'Set <1>a secret</1> for {name}.': 'Für {name} <1>ein Geheimnis</1> setzen.',
      '{count} day': ['{count} Tag', '{count} Tage'],
    };
    expect(errorsOf(good)).to.deep.equal([]);
    expect(missingTexts(texts, good, 2)).to.deep.equal({});
  });

  it('finds lost and added values, wrong elements, wrong forms and unknown texts', () => {
    expect(errorsOf({ 'Set <1>a secret</1> for {name}.': '<1>Geheimnis</1> für {Name}.' })).to.deep.equal([
      'The translation of “Set <1>a secret</1> for {name}.” lacks {name}.',
      'The translation of “Set <1>a secret</1> for {name}.” has {Name}, which the text lacks.',
    ]);
    expect(errorsOf({ 'Set <1>a secret</1> for {name}.': '</1>{name}<1>' })[0]).to.include('in another order');
    expect(errorsOf({ '{count} day': '{count} Tag' })).to.deep.equal(['“{count} day” needs an array of 2 texts.']);
    expect(errorsOf({ Gone: 'Weg' })).to.deep.equal(['“Gone” is no text of the program. Remove it.']);
  });

  it('lists what is to be filled in', () => {
    expect(missingTexts(texts, { 'Set <1>a secret</1> for {name}.': '' }, 2)).to.deep.equal({
      'Set <1>a secret</1> for {name}.': '',
      '{count} day': ['', ''],
    });
  });
});
