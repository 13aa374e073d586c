import { expect, test, vi } from 'vitest';
import { BackgroundWorker } from '../../../src/jobs/background-worker.ts';

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

/** Says how long the next piece may wait, and counts the pieces. */
class Waiting extends BackgroundWorker {
  pieces = 0;
  readonly #next: readonly (boolean | number)[];

  constructor(next: readonly (boolean | number)[]) {
    super({ pollMs: 1_000 });
    this.#next = next;
  }

  protected override work(): Promise<boolean | number> {
    this.pieces += 1;
    return Promise.resolve(this.#next[this.pieces - 1] ?? false);
  }

  protected override failed(error: unknown): void {
    throw error;
  }
}

test('polls again at once, after the time that the work names, or after the poll interval', async () => {
  vi.useFakeTimers();
  try {
    const worker = new Waiting([true, 300, false]);
    worker.start();
    await vi.advanceTimersByTimeAsync(299);
    expect(worker.pieces).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(worker.pieces).toBe(3);
    await vi.advanceTimersByTimeAsync(999);
    expect(worker.pieces).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(worker.pieces).toBe(4);
    await worker.stop();
  } finally {
    vi.useRealTimers();
  }
});

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

test('reports a lasting cause once in ten seconds, not at every attempt', async () => {
  expect(await reportsOf(Array<string>(15).fill('The disk is full'))).toEqual([
    'Error: The disk is full',
    'Error: The disk is full',
  ]);
});

test('reports another cause at once, and the same one again after successful work', async () => {
  expect(
    await reportsOf(['The disk is full', 'Connection lost', 'Connection lost', null, 'Connection lost']),
  ).toEqual(['Error: The disk is full', 'Error: Connection lost', 'Error: Connection lost']);
});
