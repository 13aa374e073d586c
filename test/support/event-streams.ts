import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';
import type { WebhookPayload } from '../../parts/webhooks/src/webhook.ts';
import { readStreamAddress } from '../../src/domain/stream-address.ts';
import type { WebhookReceiver } from '../../parts/webhooks/src/receivers.ts';
import { HAS_NATS, NATS_NOTE, startNats } from './nats.ts';
import { startValkey } from './valkey.ts';

export interface StreamedEvent {
  /** As it stands beside the payload. */
  readonly id: string;
  readonly payload: WebhookPayload;
}

/** A stream that events are put on, on a server of its own. */
export interface TestEventStream extends AsyncDisposable {
  /** As it stands in the settings. */
  readonly receiver: WebhookReceiver;
  /** The host of its address. */
  readonly host: string;
  /** All there is, in the order of the stream. */
  events(): Promise<StreamedEvent[]>;
  /** The server ends at once; what it has is there again when it is started. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export const EVENT_STREAM_KINDS = [
  { kind: 'Redis Streams', has: true, dropsKnown: false, start: startRedisEvents },
  { kind: `JetStream${NATS_NOTE}`, has: HAS_NATS, dropsKnown: true, start: startNatsEvents },
] as const;

function receiverOf(url: string): WebhookReceiver {
  const stream = readStreamAddress(url);
  if (stream === null) throw new Error(`${url} is not the address of a stream`);
  return { url: stream.shown, stream, keys: [], types: null, tenant: null, allowPrivateAddress: true };
}

async function startRedisEvents(): Promise<TestEventStream> {
  const valkey = await startValkey({ args: () => ['--appendonly', 'yes', '--appendfsync', 'always'] });
  const host = `127.0.0.1:${String(valkey.port)}`;
  return {
    receiver: receiverOf(`redis://${host}/host-events`),
    host,
    async events() {
      const entries = (await valkey.call('XRANGE', 'host-events', '-', '+')) as readonly (readonly [
        string,
        readonly string[],
      ])[];
      return entries.map(([, [idName, id = '', eventName, event = '']]) => {
        expect([idName, eventName]).toEqual(['id', 'event']);
        return { id, payload: JSON.parse(event) as WebhookPayload };
      });
    },
    kill: () => valkey.kill(),
    start: () => valkey.start(),
    [Symbol.asyncDispose]: () => valkey[Symbol.asyncDispose](),
  };
}

export async function startNatsEvents(): Promise<TestEventStream> {
  const server = await startNats();
  const host = `127.0.0.1:${String(server.port)}`;
  const connection = await connect({ servers: host, reconnectTimeWait: 20, maxReconnectAttempts: -1 });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'EVENTS', subjects: ['host.events'] });
  return {
    receiver: receiverOf(`nats://${host}/host.events`),
    host,
    async events() {
      const { state } = await manager.streams.info('EVENTS');
      const found: StreamedEvent[] = [];
      for (let seq = 1; seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage('EVENTS', { seq });
        if (message !== null)
          found.push({ id: message.header.get('Nats-Msg-Id'), payload: message.json<WebhookPayload>() });
      }
      return found;
    },
    kill: () => server.kill(),
    async start() {
      await server.start();
      const isThere = () =>
        manager.streams.info('EVENTS').then(
          () => true,
          () => false,
        );
      await expect.poll(isThere).toBe(true);
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
