import { expect, test } from 'vitest';
import { MessageOrder } from '../../../src/http/sockets/websocket.ts';

function scene() {
  const handed: string[] = [];
  const errors: unknown[] = [];
  const order = new MessageOrder((error) => errors.push(error));
  return { order, handed, errors, hand: (name: string) => () => void handed.push(name) };
}

test('passes small messages on at once', () => {
  const { order, handed, hand } = scene();
  order.add(false, hand('a'));
  order.add(false, hand('b'));
  expect(handed).toEqual(['a', 'b']);
});

test('passes a large message on in a later turn, and later messages wait for it', async () => {
  const { order, handed, hand } = scene();
  order.add(true, hand('large'));
  order.add(false, hand('small'));
  order.add(true, hand('large too'));
  expect(handed).toEqual([]);
  await expect.poll(() => handed).toEqual(['large', 'small', 'large too']);
  await new Promise((resolve) => setImmediate(resolve));
  order.add(false, hand('at once'));
  expect(handed.at(-1)).toBe('at once');
});

test('reports a failing message and passes on those behind it', async () => {
  const { order, handed, errors, hand } = scene();
  const error = new Error('No');
  order.add(true, () => {
    throw error;
  });
  order.add(false, hand('next'));
  await expect.poll(() => handed).toEqual(['next']);
  expect(errors).toEqual([error]);
});
