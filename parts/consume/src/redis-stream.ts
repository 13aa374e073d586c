import { randomUUID } from 'node:crypto';
import { connectRedis } from '../../../src/connections/redis.ts';
import type { StreamAddress } from '../../../src/domain/stream-address.ts';
import { refusedOf, type Message, type MessageSource } from './messages.ts';

export interface RedisStreamOptions extends StreamAddress {
  readonly group: string;
  /** After so many milliseconds without an acknowledgement, another process takes a message. */
  readonly takenOverAfterMs: number;
}

const WAIT_MS = 1_000;

type Entry = readonly [id: string, fields: readonly string[] | null];

/** Messages by a consumer group, which is made if there is none and then begins with the oldest message. */
export async function openRedisStream(options: RedisStreamOptions): Promise<MessageSource<Message>> {
  const { server, stream, group, takenOverAfterMs } = options;
  const connections = await connectRedis({ url: server, name: 'fanfare-consume' });
  // The one waits for messages, so that acknowledgements need not.
  const { commands, subscriber: waiting } = connections;
  const consumer = randomUUID();
  try {
    await makeGroup();
  } catch (error) {
    await connections.close();
    throw error;
  }
  let takenOverAt = -Infinity;
  let from = '0-0';

  async function makeGroup(): Promise<void> {
    try {
      await commands.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
    }
  }

  /** What has waited too long for an acknowledgement, of this process too. */
  async function takeOver(most: number): Promise<readonly Message[]> {
    const [next, entries] = await commands.xautoclaim(
      ...([stream, group, consumer, takenOverAfterMs, from, 'COUNT', most] as const),
    );
    from = String(next);
    if (from === '0-0') takenOverAt = performance.now();
    return (entries as readonly (Entry | null)[]).flatMap((entry) =>
      entry === null ? [] : [messageOf(stream, entry)],
    );
  }

  return {
    async read(most) {
      if (from !== '0-0' || performance.now() - takenOverAt > takenOverAfterMs / 4) {
        const taken = await takeOver(most);
        if (taken.length > 0) return taken;
      }
      const found = (await waiting.xreadgroup(
        ...(['GROUP', group, consumer, 'COUNT', most, 'BLOCK', WAIT_MS, 'STREAMS', stream, '>'] as const),
      )) as readonly (readonly [stream: string, entries: readonly Entry[]])[] | null;
      return (found ?? []).flatMap(([, entries]) => entries.map((entry) => messageOf(stream, entry)));
    },
    async hold(messages) {
      // What another process has acknowledged meanwhile stays so.
      const places = messages.map(({ id }) => placeOf(id));
      if (places.length > 0) await commands.xclaim(stream, group, consumer, 0, ...places, 'JUSTID');
    },
    async conclude({ recorded, refused }) {
      const done = [...recorded, ...refused.map(({ message }) => message)].map(({ id }) => placeOf(id));
      if (done.length === 0) return;
      const transaction = commands.multi();
      for (const { message, code, reason } of refused)
        transaction.xadd(
          refusedOf(stream),
          ...['*', 'line', message.text ?? '', 'code', code, 'reason', reason, 'id', placeOf(message.id)],
        );
      for (const [error] of (await transaction.xack(stream, group, ...done).exec()) ?? [])
        if (error !== null) throw error;
    },
    async [Symbol.asyncDispose]() {
      // What it has not acknowledged is taken over, so the consumer stays until nothing is.
      await connections.close();
    },
  };
}

function messageOf(stream: string, [id, fields]: Entry): Message {
  const at = (fields ?? []).findIndex((name, index) => index % 2 === 0 && name === 'line');
  return { id: `${stream} ${id}`, text: at < 0 ? null : (fields?.[at + 1] ?? null) };
}

/** Ids of a stream have no spaces; its name may. */
function placeOf(id: string): string {
  return id.slice(id.lastIndexOf(' ') + 1);
}
