import { expect, test, vi } from 'vitest';
import { BackgroundWorker } from '../../../src/workers/background-worker.ts';

/** Rejects with each given message in turn, works where there is null, and keeps what it reports. */
class Scripted extends BackgroundWorker {
  readonly reported: string[] = [];
  readonly #pieces: (string | null)[];

  constructor(pieces: (string | null)[]) {
    super({ pollMs: 1_000 });
    this.#pieces = pieces;
  }

  get isDone(): boolean {
    return this.#pieces.length === 0;
  }

  protected override work(): Promise<boolean> {
    const message = this.#pieces.shift() ?? null;
    return message === null ? Promise.resolve(false) : Promise.reject(new Error(message));
  }

  protected override failed(error: unknown): void {
    this.reported.push(String(error));
  }
}

async function reportsOf(pieces: (string | null)[]): Promise<readonly string[]> {
  vi.useFakeTimers();
  try {
    const worker = new Scripted(pieces);
    worker.start();
    while (!worker.isDone) await vi.advanceTimersByTimeAsync(1_000);
    await worker.stop();
    return worker.reported;
  } finally {
    vi.useRealTimers();
  }
}

test('a cause that lasts is reported once in ten seconds, not at every attempt', async () => {
  expect(await reportsOf(Array<string>(15).fill('The disk is full'))).toEqual([
    'Error: The disk is full',
    'Error: The disk is full',
  ]);
});

test('another cause is reported at once, and so is the same one after work was done', async () => {
  expect(
    await reportsOf(['The disk is full', 'Connection lost', 'Connection lost', null, 'Connection lost']),
  ).toEqual(['Error: The disk is full', 'Error: Connection lost', 'Error: Connection lost']);
});
