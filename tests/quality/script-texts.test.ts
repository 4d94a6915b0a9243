import { expect } from 'chai';
import { textsWithoutCall, untranslatedTexts } from './script-texts.ts';

describe('the scripts of pages', () => {
  it('show no text that bypasses translation', () => {
    expect(untranslatedTexts()).to.deep.equal([]);
  });

  it('would be found', () => {
    const source =
      "show('Saved'); show(`${n} images left today.`); show(__('Ok {name}', { name: 'Ada' })); key === 'Enter';";
    expect(textsWithoutCall(source)).to.deep.equal(['Saved', '… images left today.', 'Ada']);
  });
});
