import { expect } from 'chai';
import { createTextFinder, type Catalog } from '../../host/languages/find-text.ts';

const open = (catalogs: Readonly<Record<string, Catalog>>) =>
  createTextFinder({ read: () => new Map(Object.entries(catalogs)), formOf: (count) => (count === 1 ? 0 : 1) });

describe('the texts of catalogs', () => {
  const finder = open({
    host: {
      Save: 'Sichern',
      'Deleted {name}.': '{name} gelöscht.',
      '{count} day': ['{count} Tag', '{count} Tage'],
      'Try again in {1}.': 'Erneut in {1}.',
      'Edit {1}': '{1} ändern',
      category: 'Kategorie',
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
  });

  it('are found sentence by sentence', () => {
    expect(finder.translate('Deleted A. Unknown one. Deleted B.')).to.equal('A gelöscht. Unknown one. B gelöscht.');
  });

  it('have the form of a count', () => {
    expect([finder.findPlural('{count} day', 1), finder.findPlural('{count} day', 2)]).to.deep.equal([
      '{count} Tag',
      '{count} Tage',
    ]);
    expect(finder.findPlural('Save', 1)).to.equal(undefined);
  });
});
