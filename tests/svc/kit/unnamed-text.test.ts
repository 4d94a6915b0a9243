import { expect } from 'chai';
import { DocumentError } from '#plugin-api';
import { readUnnamedText } from '../../../plugins/svc/kit/unnamed-text.reader.ts';
import { failureOf } from '../../helpers/failure-of.ts';

const read = (bytes: Uint8Array): Promise<string> => readUnnamedText(bytes, { declared: () => undefined });

/** A text in an encoding with one byte for a character. */
function encode(text: string, encoding: string): Uint8Array {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
  return Uint8Array.from(text, (character) => {
    const byte = bytes.get(character);
    if (byte === undefined) throw new Error(`${encoding} has no ${character}.`);
    return byte;
  });
}

describe('a text without a named encoding', () => {
  it('is read also where it is short', async () => {
    expect(await read(Buffer.from('836583588367', 'hex'))).to.equal('テスト');
    expect(await read(Buffer.from('bbf3c7b02cb0a1b0dd', 'hex'))).to.equal('상품,가격');
    expect(await read(Buffer.from('b2fac6b72cbcdbb8f1', 'hex'))).to.equal('产品,价格');
    for (const [encoding, text] of [
      ['windows-1251', 'Привет'],
      ['windows-1251', 'Имя;Цена\nФургон;900\nАвтобус;1200\n'],
      ['windows-1253', 'Γεια σου κόσμε'],
      ['windows-1256', 'مرحبا بالعالم'],
    ] as const)
      expect(await read(encode(text, encoding)), text).to.equal(text);
  });

  it('is in Windows-1252 where that makes sense', async () => {
    for (const text of [
      'Größe;Preis\nMaß;5 €\n',
      'Café',
      'Señor Muñoz está aquí. ¿Qué? ¡Hola!',
      'naïve “quoted” text – it’s 3¼ m² at ±5 °C',
      'smørrebrød på Ærø',
      'FAÇADE À LOUER — GÉNÉRÉE',
      '»Wort« und «été», § 5 Nr. 3, ©2024',
    ])
      expect(await read(encode(text, 'windows-1252')), text).to.equal(text);
    expect(await read(encode('Le cœur, 5 €', 'iso-8859-15'))).to.equal('Le cœur, 5 €');
  });

  it('is refused instead of being read with wrong letters', async () => {
    const cp850 = Buffer.from('4772 94e1 65 3b 4d61 e1 0a 9a 62 65 72 67 72 94 e1 65'.replaceAll(' ', ''), 'hex');
    const ebcdic = Buffer.from(
      'e388899240a2858995a3859583854089a240a3884081950485a7819497938540968640a38885'.repeat(20),
      'hex',
    );
    for (const bytes of [cp850, ebcdic, encode('שלום עולם', 'windows-1255')]) {
      const error = (await failureOf(read(bytes))) as Error;
      expect(error).to.be.instanceOf(DocumentError);
      expect(error.message).to.contain('Save it as UTF-8');
    }
  });
});
