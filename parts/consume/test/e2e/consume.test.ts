import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { actionLine, numbered } from '../../../../test/support/ingest.ts';
import { HAS_NATS } from '../../../../test/support/nats.ts';
import { STREAM_KINDS, type TestStream } from '../../../../test/support/streams.ts';
import { Acting } from '../../../../src/core/stored-input.ts';
import { readStreamAddress } from '../../../../src/domain/stream-address.ts';
import { DEFAULT_LIMITS } from '../../../../src/http/limits/limits.ts';
import { consumerOf, publisher } from '../../src/command.ts';
import type { ConsumingOptions } from '../../src/consume.ts';
import { openNatsStream } from '../../src/nats-stream.ts';
import { openRedisStream } from '../../src/redis-stream.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ api: false, worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

const GROUP = 'fanfare';
let uses = 0;
/** Of lines that no other test has. */
const prefixOf = (): string => `use${String((uses += 1))}x`;
const recordedOf = (prefix: string): Promise<number> =>
  app.app.database.collections.actions.countDocuments({ 'descriptor.objectId': { $regex: `^${prefix}\\d` } });

/** A process of the group; ends with what is under way. */
async function start(
  stream: TestStream,
  {
    takenOverAfterMs = 600_000,
    ...more
  }: Partial<ConsumingOptions> & { readonly takenOverAfterMs?: number } = {},
): Promise<
  { readonly seen: { recorded: number; replays: number }; readonly failures: unknown[] } & AsyncDisposable
> {
  const stop = new AbortController();
  const seen = { recorded: 0, replays: 0 };
  const failures: unknown[] = [];
  const ended = (await consumerOf(stream.url, GROUP, takenOverAfterMs))({
    bounds: DEFAULT_LIMITS.json,
    publish: publisher(app.core, new Acting(null)),
    signal: stop.signal,
    againAfterMs: 10,
    onConcluded({ recorded, replays }) {
      seen.recorded += recorded.length;
      seen.replays += replays;
    },
    onFailure: (error) => failures.push(error),
    ...more,
  });
  return {
    seen,
    failures,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

test('what a process holds counts as just read', async () => {
  await using stream = STREAM_KINDS[0].start();
  await stream.add([actionLine('held')]);
  const url = readStreamAddress(stream.url);
  if (url === null) throw new Error('The address of a test is none');
  await using source = await openRedisStream({ ...url, group: GROUP, takenOverAfterMs: 600_000 });
  const messages = await source.read(1);
  const redis = new Redis(inject('redisUrl'));
  const idleMs = async (): Promise<number> => {
    const [entry] = (await redis.xpending(url.stream, GROUP, '-', '+', 1)) as [[string, string, number]];
    return entry[2];
  };
  try {
    await expect.poll(idleMs).toBeGreaterThan(20);
    // A busy machine may take long between the two.
    await expect
      .poll(async () => {
        const before = await idleMs();
        await source.hold(messages);
        return (await idleMs()) < before;
      })
      .toBe(true);
    await source.conclude({ recorded: messages, refused: [], later: [] });
    await source.hold(messages);
    expect(await stream.open(GROUP)).toBe(0);
  } finally {
    redis.disconnect();
  }
});

test.runIf(HAS_NATS)('messages that come while others are read are read soon', async () => {
  await using stream = await STREAM_KINDS[1].start();
  const url = readStreamAddress(stream.url);
  if (url === null) throw new Error('The address of a test is none');
  await using source = await openNatsStream({ ...url, group: GROUP, takenOverAfterMs: 600_000 });
  const keys = numbered(300, 'soon');
  const adding = (async () => {
    for (const key of keys) await stream.add([key]);
  })();
  const read = new Set<string | null>();
  const readAll = async (): Promise<number> => {
    const messages = await source.read(50);
    for (const { text } of messages) read.add(text);
    await source.conclude({ recorded: messages, refused: [], later: [] });
    return read.size;
  };
  await expect.poll(readAll, { interval: 1 }).toBe(keys.length);
  await adding;
});

const isDone = (stream: TestStream) => expect.poll(() => stream.open(GROUP)).toBe(0);

describe.each(STREAM_KINDS)('$kind', ({ has, start: startStream }) => {
  test.runIf(has)('messages are recorded once, and acknowledged', async () => {
    await using stream = await startStream();
    const prefix = prefixOf();
    await stream.add(numbered(1_200, prefix).map((key) => actionLine(key)));
    await using one = await start(stream);
    await isDone(stream);
    await stream.add([actionLine(`${prefix}5000`), actionLine(`${prefix}7`)]);
    await isDone(stream);
    expect(await recordedOf(prefix)).toBe(1_201);
    expect(one.seen).toEqual({ recorded: 1_202, replays: 1 });
    expect(one.failures).toEqual([]);
  });

  test.runIf(has)(
    'a line without a key is recorded once for each message, however often it comes',
    async () => {
      await using stream = await startStream();
      const prefix = prefixOf();
      const line = actionLine(null, {
        descriptor: { custom: { verb: 'visited', objectType: 'site', objectId: `${prefix}1` } },
      });
      await stream.add([line, line]);
      {
        // Ends between the record and the acknowledgement.
        let isRecorded = false;
        const publish = publisher(app.core, new Acting(null));
        await using _killed = await start(stream, {
          async publish(inputs) {
            await publish(inputs);
            isRecorded = true;
            throw new Error('killed');
          },
          againAfterMs: 600_000,
          takenOverAfterMs: 100,
        });
        await expect.poll(() => isRecorded).toBe(true);
      }
      expect(await recordedOf(prefix)).toBe(2);
      await using next = await start(stream, { takenOverAfterMs: 100 });
      await isDone(stream);
      expect(await recordedOf(prefix)).toBe(2);
      expect(next.seen.replays).toBeGreaterThanOrEqual(2);
    },
  );

  test.runIf(has)('what cannot be recorded is kept with its reason, and holds nothing up', async () => {
    await using stream = await startStream();
    const prefix = prefixOf();
    const deep = `{"data":${'['.repeat(40)}${']'.repeat(40)}}`;
    await stream.add([
      'not json',
      null,
      '{"descriptor":{"nothing":{}}}',
      deep,
      actionLine(`${prefix}2`, { scope: 'NOBODY' }),
      actionLine(`${prefix}1`),
    ]);
    await using _one = await start(stream);
    await isDone(stream);
    expect(await recordedOf(prefix)).toBe(1);
    const refused = await stream.refused();
    expect(refused.map(({ line }) => line)).toEqual([
      'not json',
      '',
      '{"descriptor":{"nothing":{}}}',
      deep,
      expect.stringContaining('NOBODY'),
    ]);
    expect(refused.every(({ code, reason }) => code === 'BAD_USER_INPUT' && reason !== '')).toBe(true);
  });

  test.runIf(has)('processes of a group share the messages', async () => {
    await using stream = await startStream();
    const prefix = prefixOf();
    await using one = await start(stream);
    await using two = await start(stream);
    await stream.add(numbered(2_000, prefix).map((key) => actionLine(key)));
    await isDone(stream);
    await expect.poll(() => one.seen.recorded + two.seen.recorded).toBe(2_000);
    expect(one.seen.replays + two.seen.replays).toBe(0);
    expect(await recordedOf(prefix)).toBe(2_000);
  });

  test.runIf(has)(
    'while the database is away nothing is acknowledged, and afterwards all is recorded',
    async () => {
      await using stream = await startStream();
      const prefix = prefixOf();
      const publish = publisher(app.core, new Acting(null));
      let tries = 0;
      await using one = await start(stream, {
        publish(inputs) {
          tries += 1;
          return tries < 5 ? Promise.reject(new Error('The database is away')) : publish(inputs);
        },
      });
      await stream.add([actionLine(`${prefix}1`)]);
      await isDone(stream);
      expect(await recordedOf(prefix)).toBe(1);
      expect(one.failures).toHaveLength(4);
    },
  );

  test.runIf(has)('a server that goes away loses nothing', async () => {
    await using stream = await startStream();
    const prefix = prefixOf();
    await using one = await start(stream, { takenOverAfterMs: 100 });
    await stream.add(numbered(600, prefix).map((key) => actionLine(key)));
    await expect.poll(() => one.seen.recorded).toBeGreaterThan(0);
    await stream.disturb();
    await stream.add([actionLine(`${prefix}600`)]);
    await isDone(stream);
    expect(await recordedOf(prefix)).toBe(601);
  });
});
