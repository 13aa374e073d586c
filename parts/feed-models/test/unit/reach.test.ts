import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../../../src/storage/database/errors.ts';
import { redisReach } from '../../src/redis/repository.ts';

/** What a server answers that refuses, as the client throws it. */
class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

const never = (): Promise<never> => new Promise(() => undefined);
const refusal = (message: string) => (): Promise<never> => Promise.reject(new ReplyError(message));

test('distinguishes an unreachable store from a wrong command', async () => {
  const { read, write } = redisReach();
  for (const send of [
    () => Promise.reject(new Error('Connection is closed.')),
    () => Promise.reject(new Error('Command timed out')),
    refusal('LOADING Redis is loading the dataset in memory'),
    refusal("READONLY You can't write against a read only replica."),
    refusal("OOM command not allowed when used memory > 'maxmemory'."),
  ])
    for (const way of [read, write]) await expect(way(send)).rejects.toThrow(StoreUnavailable);
  for (const way of [read, write]) {
    await expect(way(refusal('WRONGTYPE Operation against a key'))).rejects.toThrow(ReplyError);
    expect(await way(() => Promise.resolve('an answer'))).toBe('an answer');
  }
});

test('gives up on a read without response, and sends no further one for a while', async () => {
  const { read } = redisReach(10);
  await expect(read(never)).rejects.toThrow(StoreUnavailable);
  let sent = 0;
  const counted = (): Promise<never> => {
    sent += 1;
    return never();
  };
  await expect(read(counted)).rejects.toThrow(StoreUnavailable);
  expect(sent).toBe(0);
});

test('reads again after any response, even to a write or a late one', async () => {
  for (const isWrite of [true, false]) {
    const { read, write } = redisReach(10);
    let answer = (): void => undefined;
    const late = read(
      () =>
        new Promise<string>((resolve) => {
          answer = () => {
            resolve('late');
          };
        }),
    );
    await expect(late).rejects.toThrow(StoreUnavailable);
    await expect(read(() => Promise.resolve('too early'))).rejects.toThrow(StoreUnavailable);
    if (isWrite) await write(() => Promise.resolve('OK'));
    else answer();
    // What follows from the answer takes some turns.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await read(() => Promise.resolve('there'))).toBe('there');
  }
});
