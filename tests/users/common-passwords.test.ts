import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { isCommonPassword, isListed } from '../../host/users/common-passwords/common-passwords.ts';
import { createRoles } from '../../host/users/roles.ts';
import { checkChanges, checkNewUser } from '../../host/users/user-input.ts';

describe('common passwords', () => {
  it('come from a list of the 100,000 commonest and 40,000 longer ones', async () => {
    const bytes = await readFile(new URL('../../host/users/common-passwords/common-passwords.bin', import.meta.url));
    const prefixes = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4));
    expect(prefixes).to.have.length(139_968);
    expect(prefixes.every((prefix, index) => index === 0 || prefix > prefixes[index - 1]!)).to.equal(true);
  });

  it('are found in any case, with digits and signs around them, and repeated', () => {
    for (const password of [
      '123456',
      '1qaz2wsx3edc4rfv',
      'QwertyUiopAsdf',
      'unbelievable',
      'Password1234',
      '!!Superman!1979',
      'hunter2hunter2',
      'abababababababab',
      'ｐａｓｓｗｏｒｄ１２３４',
    ])
      expect(isCommonPassword(password), password).to.equal(true);
  });

  it('are sequences, also with a cut-off repetition', () => {
    for (const password of [
      '0123456789012',
      '987654321098',
      'abcdefghijklmno',
      '112233445566',
      '135791357913',
      '4711471147114',
      'XYZABCDEFGHIJ',
    ])
      expect(isCommonPassword(password), password).to.equal(true);
  });

  it('are the own name and address with little else, for a new user and as a new password', () => {
    const roles = createRoles();
    const user = { login: 'lovelace', email: 'ada.king@example.com', displayName: 'Ada Lovelace', role: 'author' };
    for (const password of ['ada.king@example.com1', 'AdaLovelace1815', 'example.com 42', 'lovelace-ada-king!']) {
      expect(() => checkNewUser({ ...user, password }, roles), password).to.throw('contains your name or address');
      const own = [user.login, user.email, user.displayName];
      expect(() => checkChanges({ password }, roles, own), password).to.throw('contains your name or address');
    }
    expect(() => checkNewUser({ ...user, password: 'lovelace kX7#qPz9' }, roles)).to.not.throw();
  });

  it('are phrases that everybody knows, however they are written', () => {
    for (const password of [
      'correct horse battery staple',
      'CorrectHorseBatteryStaple',
      'correct-horse-battery-staple1!',
      'The quick brown fox jumps over the lazy dog.',
      'to be or not to be, that is the question',
      'may_the_force_be_with_you',
      'p a s s w o r d 1 2 3 4',
    ])
      expect(isCommonPassword(password), password).to.equal(true);
  });

  it('are refused for new users and as new passwords', () => {
    const roles = createRoles();
    const user = { login: 'ada', email: 'ada@example.com', role: 'author' };
    for (const password of ['correct horse battery staple', 'Password1234!'])
      for (const check of [() => checkNewUser({ ...user, password }, roles), () => checkChanges({ password }, roles)])
        expect(check, password).to.throw('This password is easy to guess');
    expect(() => checkChanges({ password: 'tea 4471-9082-1177' }, roles)).to.not.throw();
  });

  it('are not passphrases or random passwords', () => {
    for (const password of ['correct horse battery', 'a long password', 'tea 4471-9082-1177', 'kX7#qPz92!vLm4'])
      expect(isCommonPassword(password), password).to.equal(false);
  });

  it('are mistaken for a random password at most once in 10,000 times', () => {
    const random = Array.from({ length: 100_000 }, (_, index) =>
      createHash('sha256').update(`password ${index}`).digest('base64url').slice(0, 16),
    );
    expect(random.filter(isListed).length).to.be.at.most(10);
  });
});
