import { hash as foreignHash, verify as foreignVerify } from '@node-rs/argon2';
import { expect } from 'chai';
import { hash, verify } from '../../host/users/passwords.ts';
import { failureOf } from '../helpers/failure-of.ts';

const settings = { memory: 8_192, passes: 1, parallelism: 1 };

describe('hashes of passwords', () => {
  it('are what the package makes and takes, which does the work on an older Node', async () => {
    expect(await foreignVerify(await hash('corréct hørse', settings), 'corréct hørse')).to.equal(true);
    const foreign = await foreignHash('corréct hørse', { memoryCost: 9_000, timeCost: 3, parallelism: 2 });
    expect([await verify(foreign, 'corréct hørse'), await verify(foreign, 'correct horse')]).to.deep.equal([
      true,
      false,
    ]);
  });

  it('that are none are an error, no match', async () => {
    for (const stored of ['', '$2b$10$abc', '$argon2i$v=19$m=8192,t=1,p=1$AAAAAAAAAAA$AAAA'])
      expect(await failureOf(verify(stored, 'password')), stored).to.be.an('error');
  });
});
