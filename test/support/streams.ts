import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { expect, inject } from 'vitest';
import { HAS_NATS, NATS_NOTE, startNats } from './nats.ts';
import { uniqueName } from './unique-name.ts';

export interface RefusedMessage {
  readonly line: string;
  readonly reason: string;
  readonly code: string;
}

/** A stream of the tests, on a real server. */
export interface TestStream extends AsyncDisposable {
  /** For `fanfare consume`. */
  readonly url: string;
  /** A text per message; `null`: a message without one. */
  add(lines: readonly (string | null)[]): Promise<void>;
  refused(): Promise<RefusedMessage[]>;
  /** The connections of consumers are lost; of JetStream, the server ends and is started again. */
  disturb(): Promise<void>;
  /** Messages that the group has not acknowledged, or not been given. */
  open(group: string): Promise<number>;
}

export const STREAM_KINDS = [
  { kind: 'Redis Streams', has: true, start: redisStream },
  { kind: `JetStream${NATS_NOTE}`, has: HAS_NATS, start: natsStream },
] as const;

const CHUNK = 1_000;

function redisStream(): TestStream {
  const url = inject('redisUrl');
  const stream = uniqueName('stream');
  const redis = new Redis(url);
  const fieldsOf = (fields: readonly string[]) =>
    Object.fromEntries(fields.flatMap((name, n) => (n % 2 === 0 ? [[name, fields[n + 1] ?? '']] : [])));
  return {
    url: url.replace(/^(rediss?:\/\/[^/?]+(?:\/\d+)?)\/?/, `$1/${stream}`),
    async add(lines) {
      for (let from = 0; from < lines.length; from += CHUNK) {
        const pipeline = redis.pipeline();
        for (const line of lines.slice(from, from + CHUNK))
          if (line === null) pipeline.xadd(stream, '*', 'other', 'x');
          else pipeline.xadd(stream, '*', 'line', line);
        await pipeline.exec();
      }
    },
    async refused() {
      const entries = await redis.xrange(`${stream}-refused`, '-', '+');
      return entries.map(([, fields]) => fieldsOf(fields) as unknown as RefusedMessage);
    },
    async disturb() {
      const clients = String(await redis.client('LIST')).split('\n');
      for (const client of clients)
        if (client.includes(' name=fanfare-consume-'))
          await redis.client('KILL', 'ID', /id=(\d+)/.exec(client)?.[1] ?? '');
    },
    async open(group) {
      const groups = (await redis.call('XINFO', 'GROUPS', stream)) as readonly (readonly unknown[])[];
      const own = groups
        .map(
          (fields) =>
            Object.fromEntries(
              fields.flatMap((name, n) => (n % 2 === 0 ? [[name, fields[n + 1]]] : [])),
            ) as Record<string, unknown>,
        )
        .find(({ name }) => name === group);
      return own === undefined ? Infinity : Number(own['pending']) + Number(own['lag']);
    },
    async [Symbol.asyncDispose]() {
      await redis.del(stream, `${stream}-refused`);
      redis.disconnect();
    },
  };
}

async function natsStream(): Promise<TestStream> {
  const server = await startNats();
  const servers = `127.0.0.1:${String(server.port)}`;
  const connection = await connect({ servers, reconnectTimeWait: 20, maxReconnectAttempts: -1 });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  await manager.streams.add({ name: 'lines', subjects: ['lines.>'] });
  return {
    url: `nats://127.0.0.1:${String(server.port)}/lines`,
    async add(lines) {
      for (let from = 0; from < lines.length; from += CHUNK)
        await Promise.all(
          lines.slice(from, from + CHUNK).map((line) => client.publish('lines.x', line ?? '')),
        );
    },
    async refused() {
      const name = 'lines-refused';
      const info = await manager.streams.info(name).catch(() => null);
      const found: RefusedMessage[] = [];
      for (let seq = 1; seq <= (info?.state.last_seq ?? 0); seq += 1) {
        const message = await manager.streams.getMessage(name, { seq });
        if (message === null) continue;
        const { header } = message;
        found.push({ line: message.string(), reason: header.get('reason'), code: header.get('code') });
      }
      return found;
    },
    async disturb() {
      await server.kill();
      await server.start();
      const isThere = () =>
        manager.streams.info('lines').then(
          () => true,
          () => false,
        );
      await expect.poll(isThere).toBe(true);
    },
    async open(group) {
      const info = await manager.consumers.info('lines', group).catch(() => null);
      return info === null ? Infinity : info.num_pending + info.num_ack_pending;
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
