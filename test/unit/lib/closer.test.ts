import { expect, it } from 'vitest';
import { Closer } from '../../../src/lib/closer.ts';

it('closes in reverse order, and continues after a part that takes too long', async () => {
  const closer = new Closer();
  const closed: string[] = [];
  const part = (name: string, closing: Promise<void> = Promise.resolve()): AsyncDisposable => ({
    [Symbol.asyncDispose]: () => {
      closed.push(name);
      return closing;
    },
  });
  closer.own(part('database'));
  closer.own(part('worker', new Promise<void>(() => undefined)), 1);
  closer.own(part('http'));
  await closer.close();
  expect(closed).toEqual(['http', 'worker', 'database']);
});

it('reports all failures after all parts are closed', async () => {
  const closer = new Closer();
  const failing = { [Symbol.asyncDispose]: () => Promise.reject(new Error('stuck')) };
  closer.own(failing, 60_000);
  closer.own(failing);
  await expect(closer.close()).rejects.toThrow('Several parts could not be closed');
});
