import { networkError } from '../../../client/src/errors.ts';
import { expect, test } from 'vitest';
import { oneReader } from '../../src/store/one-reader.ts';

/** A token function, and a server that knows whose each token is: the first letter says it. */
function settle() {
  const world = { token: 'a1', isAway: false, others: 0, asked: [] as string[] };
  const tokens = oneReader(
    () => world.token,
    async (token) => {
      world.asked.push(token);
      await Promise.resolve();
      if (world.isAway) throw networkError('Away');
      return token.startsWith('x') ? null : token.slice(0, 1);
    },
    () => {
      world.others += 1;
    },
  );
  return { world, ...tokens };
}

test('the reader of a token is requested once, and another token of the same reader is accepted', async () => {
  const { world, token, who } = settle();
  expect([await token(), await token(), await who()]).toEqual(['a1', 'a1', 'a']);
  world.token = 'a2';
  expect([await token(), await token()]).toEqual(['a2', 'a2']);
  expect(world.asked).toEqual(['a1', 'a2']);
  expect(world.others).toBe(0);
});

test('a token of another reader is never used, also before the reader of the first one is known', async () => {
  const { world, token } = settle();
  const first = token();
  world.token = 'b1';
  const [one, two] = [token(), token()];
  await expect(one).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  await expect(two).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await first).toBe('a1');
  expect(world.others).toBeGreaterThan(0);
});

test('while the server cannot identify readers, only a token that was used before is used', async () => {
  const { world, token } = settle();
  await token();
  world.isAway = true;
  expect(await token()).toBe('a1');
  world.token = 'a2';
  await expect(token()).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
  world.isAway = false;
  expect(await token()).toBe('a2');
});

test('after a refused token the next reader is not taken for the first', async () => {
  const { world, token, who } = settle();
  await token();
  world.token = 'x';
  // The server refuses it once more, and the function is asked again.
  expect(await token()).toBe('x');
  expect(await who()).toBeNull();
  world.token = 'b1';
  await expect(token('x')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
