import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../src/http/limits/limits.ts';
import { actionLine } from '../../../../test/support/ingest.ts';
import { consume } from '../../src/consume.ts';
import type { Message } from '../../src/messages.ts';

test('the stream is notified of a batch until it is recorded, and not after that', async () => {
  const stop = new AbortController();
  let tell = (_ids: readonly string[]): void => undefined;
  // What comes after a slow batch is acknowledged after it.
  const bothHeld = new Promise<readonly string[]>((resolve) => {
    tell = resolve;
  });
  const afterwards: string[] = [];
  const batches: Message[][] = [
    [{ id: 'slow', text: actionLine('slow') }],
    [{ id: 'next', text: actionLine('next') }],
  ];
  let isConcluded = false;
  await consume(
    () =>
      Promise.resolve({
        async read() {
          await new Promise((resolve) => setImmediate(resolve));
          return batches.shift() ?? [];
        },
        hold(messages: readonly Message[]) {
          const ids = messages.map(({ id }) => id);
          if (ids.length === 2) tell(ids);
          if (isConcluded) afterwards.push(...ids);
          return Promise.reject(new Error('The connection is lost'));
        },
        async conclude({ recorded }: { readonly recorded: readonly Message[] }) {
          if (recorded.some(({ id }) => id === 'next')) isConcluded = true;
          await new Promise((resolve) => setImmediate(resolve));
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    {
      bounds: DEFAULT_LIMITS.json,
      signal: stop.signal,
      againAfterMs: 1,
      async publish(inputs) {
        if (inputs.some(({ idempotencyKey }) => idempotencyKey === 'slow'))
          expect(await bothHeld).toEqual(['slow', 'next']);
        return inputs.map(() => ({ action: {} as never, isReplay: false, error: null }));
      },
      onConcluded: () => {
        if (isConcluded) stop.abort();
      },
      onFailure(error) {
        throw error;
      },
    },
    1,
  );
  expect(afterwards).toEqual([]);
});
