import { describe, expect, it, vi } from 'vitest';
import {
  decodeLiveCursor,
  readerTag,
  type LiveEvent,
  type LogPosition,
  type LogEntry,
  type LogSnapshot,
} from '../../../src/live/live-log.ts';
import { LiveWatcher, type LiveFrame } from '../../../src/live/live-watcher.ts';
import { event, label } from '../../conformance/live-log-tools.ts';
import { fc } from '../../support/fast-check.ts';
import { repeats } from '../../support/seed.ts';

const READER = 'ann';
const STEPS = ['append', 'deliver', 'lose', 'read', 'reply', 'fail', 'restart', 'verify'] as const;
type Step = (typeof STEPS)[number];

/** A log whose frames and replies arrive exactly when a test says so. */
class SlowLog {
  readonly frames: LiveFrame[] = [];
  #generation = 0;
  #entries: LogEntry[] = [];
  #requests: { position: LogPosition | null; snapshot: LogSnapshot | null; settle: Settle }[] = [];

  get head(): LogPosition {
    const sequence = this.#entries.length;
    return { generation: this.#generation.toString(16).padStart(24, '0'), at: sequence, sequence };
  }

  readonly load = (position: LogPosition | null): Promise<LogSnapshot> =>
    new Promise((resolve, reject) =>
      this.#requests.push({ position, snapshot: null, settle: { resolve, reject } }),
    );

  append(what: LiveEvent = event(this.#generation * 1000 + this.#entries.length + 1)): void {
    const sequence = this.#entries.length + 1;
    const entry = { at: sequence, sequence, event: what };
    this.#entries.push(entry);
    this.frames.push({ generation: this.head.generation, entry });
  }

  restart(): void {
    this.#generation += 1;
    this.#entries = [];
    this.frames.push({ generation: this.head.generation, entry: null });
  }

  /** The oldest request not yet looked at sees the log as it is now. */
  read(): void {
    const request = this.#requests.find(({ snapshot }) => snapshot === null);
    if (request === undefined) return;
    const { generation } = this.head;
    const from = request.position?.generation === generation ? request.position.sequence : Infinity;
    request.snapshot = { head: this.head, missed: this.#entries.filter(({ sequence }) => sequence > from) };
  }

  reply(): void {
    if (this.#requests[0]?.snapshot == null) return;
    const request = this.#requests.shift();
    if (request?.snapshot != null) request.settle.resolve(request.snapshot);
  }

  fail(): void {
    this.#requests.shift()?.settle.reject(new Error('Away'));
  }

  get isIdle(): boolean {
    return this.#requests.length === 0;
  }
}

interface Settle {
  readonly resolve: (snapshot: LogSnapshot) => void;
  readonly reject: (error: Error) => void;
}

function watch(log: SlowLog, bufferLimit = 10_000): LiveWatcher {
  return new LiveWatcher(
    {
      bufferLimit,
      logLength: 10_000,
      load: (_userId, position) => log.load(position),
      onStale: () => undefined,
      onEnd: () => undefined,
    },
    { userId: READER, signal: new AbortController().signal },
  );
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Answers everything that is asked until nothing is. */
async function answerAll(log: SlowLog): Promise<void> {
  do {
    log.read();
    log.reply();
    await settled();
  } while (!log.isIdle);
}

async function play(log: SlowLog, watcher: LiveWatcher, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    const frame = step === 'deliver' || step === 'lose' ? log.frames.shift() : undefined;
    if (step === 'deliver' && frame !== undefined) watcher.receive(frame);
    else if (step === 'verify') void watcher.verify();
    else if (step === 'append') log.append();
    else if (step === 'read') log.read();
    else if (step === 'reply') log.reply();
    else if (step === 'restart') log.restart();
    else if (step === 'fail') log.fail();
    await settled();
  }
}

/** Everything the watcher says, as labels, checked as a client would: each event follows on the last message. */
async function readUnbroken(watcher: LiveWatcher): Promise<(number | string)[]> {
  const labels: (number | string)[] = [];
  let position: LogPosition | null = null;
  while (watcher.stream.size > 0) {
    const { value: message } = await watcher.stream.next();
    if (message === undefined) break;
    const next = decodeLiveCursor(readerTag(READER), message.cursor);
    if (message.kind === 'event') {
      expect(next?.generation).toBe(position?.generation);
      expect(next?.sequence).toBe((position?.sequence ?? 0) + 1);
    }
    position = next;
    labels.push(label(message));
  }
  return labels;
}

function steps(allowed: readonly Step[]): fc.Arbitrary<Step[]> {
  return fc.array(fc.constantFrom(...allowed), { maxLength: 80 });
}

describe('LiveWatcher', () => {
  it('passes on every event once and in order, whenever frames and replies arrive and whichever frames are lost', async () => {
    const calm = steps(['append', 'append', 'deliver', 'deliver', 'lose', 'read', 'reply', 'verify']);
    await fc.assert(
      fc.asyncProperty(calm, steps(['append', 'deliver']), async (before, after) => {
        const log = new SlowLog();
        const watcher = watch(log);
        const opening = watcher.open();
        log.read();
        await play(log, watcher, before);
        await answerAll(log);
        await opening;
        await play(log, watcher, after);
        // What a renewal does in the end.
        void watcher.verify();
        await answerAll(log);
        for (const frame of log.frames) watcher.receive(frame);
        const labels = await readUnbroken(watcher);
        expect(labels).toEqual([
          'ready',
          ...Array.from({ length: log.head.sequence }, (_, index) => index + 1),
        ]);
        expect(watcher.isUpTo(log.head.generation, log.head.sequence)).toBe(true);
      }),
      { numRuns: repeats(300) },
    );
  });

  it('never leaves a gap without a resync, also if the log restarts and reading fails', async () => {
    await fc.assert(
      fc.asyncProperty(steps(STEPS), async (wild) => {
        const log = new SlowLog();
        const watcher = watch(log);
        const opening = watcher.open();
        log.read();
        log.reply();
        await opening;
        await play(log, watcher, wild);
        await answerAll(log);
        void watcher.verify();
        await answerAll(log);
        const labels = await readUnbroken(watcher);
        expect(watcher.isUpTo(log.head.generation, log.head.sequence)).toBe(true);
        if (!wild.includes('restart')) expect(labels).toEqual(['ready', ...labels.filter(Number)]);
      }),
      { numRuns: repeats(300) },
    );
  });

  it('delivers frames that arrive between the read and its reply without reading again', async () => {
    const log = new SlowLog();
    const watcher = watch(log);
    const opening = watcher.open();
    await play(log, watcher, [
      'append',
      'deliver',
      'read',
      'append',
      'deliver',
      'append',
      'deliver',
      'reply',
    ]);
    await opening;
    expect(log.isIdle).toBe(true);
    expect(await readUnbroken(watcher)).toEqual(['ready', 2, 3]);
  });

  it('sets aside a limited number of frames, and beyond it reads them instead', async () => {
    const log = new SlowLog();
    const watcher = watch(log, 3);
    const opening = watcher.open();
    await play(log, watcher, ['read', ...Array<Step[]>(5).fill(['append', 'deliver']).flat(), 'reply']);
    expect(log.isIdle).toBe(false);
    await answerAll(log);
    await opening;
    expect(await readUnbroken(watcher)).toEqual(['ready', 1, 2, 3, 4, 5]);
  });

  it.each([
    ['frames show a hole', ['append', 'append', 'lose', 'deliver']],
    ['it is asked to verify', ['verify']],
  ] as const)('reads once more if %s during a read', async (_what, meanwhile) => {
    const log = new SlowLog();
    const watcher = watch(log);
    const opening = watcher.open();
    await play(log, watcher, ['read', ...meanwhile, 'reply']);
    expect(log.isIdle).toBe(false);
    await answerAll(log);
    await opening;
    expect(watcher.isUpTo(log.head.generation, log.head.sequence)).toBe(true);
  });

  it('does not read at every frame after a failed read, only when asked to verify', async () => {
    const log = new SlowLog();
    const watcher = watch(log);
    const opening = watcher.open();
    await answerAll(log);
    await opening;
    await play(log, watcher, ['append', 'append', 'append', 'lose', 'deliver', 'fail', 'deliver']);
    expect(log.isIdle).toBe(true);
    expect(watcher.isUpTo(log.head.generation, 0)).toBe(false);
    void watcher.verify();
    await answerAll(log);
    expect(await readUnbroken(watcher)).toEqual(['ready', 1, 2, 3]);
  });

  it('rejects opening if the log cannot be read', async () => {
    const log = new SlowLog();
    const opening = watch(log).open();
    log.fail();
    await expect(opening).rejects.toThrow('Away');
  });
});

describe('what others do to a watcher', () => {
  const MEMBERSHIP: LiveEvent = { kind: 'list', change: 'membership' };
  const FOLLOWERS: LiveEvent = { kind: 'notification', of: '', kinds: ['FOLLOW'] };

  async function opened(log: SlowLog): Promise<LiveWatcher> {
    const watcher = watch(log);
    const opening = watcher.open();
    await answerAll(log);
    await opening;
    await sent(watcher);
    return watcher;
  }

  /** What a client has been sent by now, and from where it would resume. */
  async function sent(watcher: LiveWatcher): Promise<[what: string, sequence: number][]> {
    const all: [string, number][] = [];
    while (watcher.stream.size > 0) {
      const { value: message } = await watcher.stream.next();
      if (message === undefined) break;
      const what = message.kind === 'event' ? message.event.kind : message.kind;
      all.push([what, decodeLiveCursor(readerTag(READER), message.cursor)?.sequence ?? -1]);
    }
    return all;
  }

  it('makes the client read everything again once a second at most, and loses nothing that is not read with it', async () => {
    const log = new SlowLog();
    const watcher = await opened(log);
    const deliver = (...events: readonly (LiveEvent | undefined)[]): void => {
      for (const one of events) {
        log.append(one);
        for (const frame of log.frames.splice(0)) watcher.receive(frame);
      }
    };
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      deliver(MEMBERSHIP, undefined);
      expect(await sent(watcher)).toEqual([
        ['list', 1],
        ['added', 2],
      ]);
      const before = watcher.stream.withdrawals;
      for (let n = 0; n < 100; n += 1) deliver(MEMBERSHIP, undefined);
      deliver(FOLLOWERS, FOLLOWERS, undefined);
      // Decisions that were made before are outdated all the same.
      expect(watcher.stream.withdrawals).toBe(before + 100);
      vi.advanceTimersByTime(999);
      expect(await sent(watcher)).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(await sent(watcher)).toEqual([
        ['list', 201],
        ['added', 202],
        ['notification', 204],
        ['added', 205],
      ]);
      vi.advanceTimersByTime(1_000);
      deliver(MEMBERSHIP);
      expect(await sent(watcher)).toEqual([['list', 206]]);
      deliver(MEMBERSHIP);
      watcher.stream.end();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('replays one of many that a client missed', async () => {
    const log = new SlowLog();
    const watcher = await opened(log);
    for (const one of [undefined, MEMBERSHIP, undefined, MEMBERSHIP, undefined]) log.append(one);
    void watcher.verify();
    await answerAll(log);
    expect(await sent(watcher)).toEqual([
      ['list', 4],
      ['added', 5],
    ]);
  });
});
