import { setTimeout as delay } from 'node:timers/promises';
import { createPostClient, reasonOf, type PostOutcome } from '../../../src/connections/post-client.ts';
import type { StreamAddress } from '../../../src/domain/stream-address.ts';
import type { EventMessage, EventStream } from './event-stream.ts';
import { signatureHeaders } from '../../../src/domain/signature.ts';
import type { WebhookReceiver } from './receivers.ts';

/** Sends events to one receiver. */
export interface Sender extends AsyncDisposable {
  /** Time limit of `send`. */
  readonly timeoutMs: number;
  /** Resolves within the time limit. Rejects only when the signal aborts. */
  send(message: EventMessage, signal: AbortSignal): Promise<PostOutcome>;
}

export interface SenderOptions {
  readonly timeoutMs: number;
  /** Requests by HTTP at a time. */
  readonly maxConnections: number;
}

export function senderTo(receiver: WebhookReceiver, { timeoutMs, maxConnections }: SenderOptions): Sender {
  const { url, stream, keys, allowPrivateAddress } = receiver;
  if (stream !== null) return streamSender(() => openStream(stream, timeoutMs), timeoutMs);
  const client = createPostClient({ url, allowPrivateAddress, timeoutMs, maxConnections });
  return {
    timeoutMs,
    send: (message, signal) => client.post(signatureHeaders(keys, message), message.body, signal),
    [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}

async function openStream(address: StreamAddress, timeoutMs: number): Promise<EventStream> {
  if (address.kind === 'redis')
    return (await import('./redis-stream.ts')).openRedisStream(address, timeoutMs);
  return (await import('./jetstream.ts')).openJetStream(address, timeoutMs);
}

/** Opens the stream when the first event is sent, and again after it was lost. */
function streamSender(open: () => Promise<EventStream>, timeoutMs: number): Sender {
  let stream: Promise<EventStream> | null = null;

  async function opened(): Promise<EventStream> {
    const known = stream;
    if (known !== null && (await known.catch(() => null))?.isLost() !== false && stream === known)
      stream = null;
    stream ??= open();
    return stream;
  }

  async function put(message: EventMessage): Promise<PostOutcome> {
    try {
      await (await opened()).put(message);
      return { isTaken: true, body: null };
    } catch (error) {
      return { isTaken: false, error: reasonOf(error) };
    }
  }

  return {
    timeoutMs,
    async send(message, signal) {
      signal.throwIfAborted();
      const attempt = new AbortController();
      const end = (): void => attempt.abort();
      signal.addEventListener('abort', end);
      const late = { isTaken: false, error: `No answer within ${String(timeoutMs / 1_000)} s` } as const;
      try {
        return await Promise.race([put(message), delay(timeoutMs, late, { signal: attempt.signal })]);
      } finally {
        signal.removeEventListener('abort', end);
        end();
      }
    },
    async [Symbol.asyncDispose]() {
      const open = await stream?.catch(() => null);
      await open?.close();
    },
  };
}
