import { expect } from 'chai';
import { formatDate, formatRetryTime, inLanguage, type Language } from '#plugin-api';
import { createTextFinder, type Catalog } from '../../host/languages/find-text.ts';

const open = (catalogs: Readonly<Record<string, Catalog>>) =>
  createTextFinder({
    read: () => new Map(Object.entries(catalogs)),
    tag: 'de',
    formOf: (count) => (count === 1 ? 0 : 1),
  });

describe('the texts of catalogs', () => {
  const finder = open({
    host: {
      Save: 'Sichern',
      'Deleted {name}.': '{name} gelöscht.',
      '{count} day': ['{count} Tag', '{count} Tage'],
      'Try again in {1}.': 'Erneut in {1}.',
      'Come back {when}.': 'Erneut {when}.',
      'It ends on {1}.': 'Endet am {1}.',
      'At most {1}.': 'Höchstens {1}.',
      "No '{1}'.": 'Kein „{1}“.',
      folder: 'Ordner',
      'Edit {1}': '{1} ändern',
      category: 'Kategorie',
      'Kept ({sentence})': 'Kept [{sentence}]',
      '{1} of {2}': '{1} von {2}',
      'Choose one. Leave it empty for all.': 'Wählen Sie aus, leer für alle.',
      'From {1} to {2}, by time. See below.': 'Von {1} bis {2}, nach Zeit. Siehe unten.',
    },
    shop: { Save: 'Merken', Till: 'Kasse' },
  });

  it('are those of the plugin, then of the host, then of other plugins', () => {
    expect([finder.find('Save'), finder.find('Save', 'shop'), finder.find('Till', 'blog')]).to.deep.equal([
      'Sichern',
      'Merken',
      'Kasse',
    ]);
    expect(finder.find('toString')).to.equal(undefined);
  });

  it('are found for a text whose values are filled in', () => {
    expect(finder.translate('Deleted Save.')).to.equal('Save gelöscht.');
    expect(finder.translate('Deleted “a {name} b”.')).to.equal('“a {name} b” gelöscht.');
  });

  it('are found for counts and words within a text', () => {
    expect(finder.translate('Try again in 3 day.')).to.equal('Erneut in 3 Tage.');
    expect(finder.translate('Edit category')).to.equal('Kategorie ändern');
    expect(finder.translate('2 Jan: 3 days')).to.equal('2 Jan: 3 Tage');
    expect(finder.translate('Kept (Deleted B.)')).to.equal('Kept [B gelöscht.]');
  });

  it('are not searched for what is in quotes', () => {
    expect(finder.translate("No 'category'.")).to.equal('Kein „category“.');
    expect(finder.translate("No '1,204'.")).to.equal('Kein „1,204“.');
  });

  it('are found for a line with its label', () => {
    expect(finder.translate("folder: No 'a'.")).to.equal('Ordner: Kein „a“.');
    expect(finder.translate('file: gone')).to.equal('file: gone');
  });

  it('have dates, waits and numbers as the language writes them', () => {
    const time = Date.UTC(2026, 8, 3, 14, 5);
    for (const style of ['date', 'dateTime', 'day'] as const) {
      const german = inLanguage({ tag: 'de' } as Language, () => formatDate(time, style, 'UTC'));
      expect(finder.translate(`It ends on ${formatDate(time, style, 'UTC')}.`)).to.equal(`Endet am ${german}.`);
    }
    expect(finder.translate(`Come back ${formatRetryTime(2.5 * 86_400_000)}.`)).to.equal('Erneut in 3 Tagen.');
    expect(finder.translate(`Come back ${formatRetryTime(3_600_000)}.`)).to.equal('Erneut in 1 Stunde.');
    for (const [english, german] of [
      ['1,204', '1.204'],
      ['1.5 MB', '1,5 MB'],
      ['1.25', '1.25'],
      ['20260', '20260'],
      ['Funday 3 May', 'Funday 3 May'],
      ['31 Abc 2026', '31 Abc 2026'],
    ])
      expect(finder.translate(`At most ${String(english)}.`)).to.equal(`Höchstens ${String(german)}.`);
  });

  it('are found sentence by sentence', () => {
    expect(finder.translate('Deleted A. Unknown one. Deleted B.')).to.equal('A gelöscht. Unknown one. B gelöscht.');
  });

  it('are found for sentences that a catalog has as one text', () => {
    expect(finder.translate('Choose one. Leave it empty for all. Deleted A.')).to.equal(
      'Wählen Sie aus, leer für alle. A gelöscht.',
    );
    expect(finder.translate('From 1. Jan. 2026 to 2. Jan. 2026, by time. See below.')).to.equal(
      'Von 1. Jan. 2026 bis 2. Jan. 2026, nach Zeit. Siehe unten.',
    );
  });

  it('with few letters match values of few words alone', () => {
    expect(finder.translate('3 of 10')).to.equal('3 von 10');
    const sentence = 'The script of the widget of every chatbot';
    expect(finder.translate(sentence)).to.equal(sentence);
  });

  it('have the form of a count', () => {
    expect([finder.findPlural('{count} day', 1), finder.findPlural('{count} day', 2)]).to.deep.equal([
      '{count} Tag',
      '{count} Tage',
    ]);
    expect(finder.findPlural('Save', 1)).to.equal(undefined);
  });

  it('apply no pattern to a text that a plugin declares, only a whole text of a catalog', () => {
    const catalogs = new Map<string, Catalog>([
      ['host', { '{1} of {2}': '{1} von {2}', Key: 'Schlüssel' }],
      ['shop', { Greeting: 'Gruß' }],
    ]);
    const { translate } = createTextFinder({
      ...{ read: () => catalogs, tag: 'de', formOf: () => 0 },
      ownerOf: (text) => (['Address of the shop', 'Key', 'Greeting'].includes(text) ? 'shop' : undefined),
    });
    expect(['Address of the shop', 'Key', 'Greeting', '1 of 2'].map(translate)).to.deep.equal([
      ...['Address of the shop', 'Schlüssel', 'Gruß', '1 von 2'],
    ]);
  });
});
