import { AckPolicy, jetstream, JetStreamApiError, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { connectNats } from '../../../src/connections/nats.ts';
import type { StreamAddress } from '../../../src/domain/stream-address.ts';
import { refusedOf, type Message, type MessageSource } from './messages.ts';

export interface NatsStreamOptions extends StreamAddress {
  readonly group: string;
  /** After so many milliseconds without an acknowledgement, another process gets a message. */
  readonly takenOverAfterMs: number;
}

const WAIT_MS = 1_000;
/** More than all batches that a process holds. */
const MAX_UNACKNOWLEDGED = 10_000;
const NOT_FOUND = 404;

interface NatsMessage extends Message {
  readonly sent: JsMsg;
}

/** Messages of a stream of JetStream by a durable consumer, which is made if there is none. The stream must exist. */
export async function openNatsStream(options: NatsStreamOptions): Promise<MessageSource<NatsMessage>> {
  const { server, stream, group, takenOverAfterMs } = options;
  const connection = await connectNats(server, 'fanfare-consume');
  try {
    const manager = await jetstreamManager(connection);
    const { created } = await manager.streams.info(stream);
    await manager.consumers.info(stream, group).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return manager.consumers.add(stream, {
        ...{ durable_name: group, ack_policy: AckPolicy.Explicit, max_ack_pending: MAX_UNACKNOWLEDGED },
        ack_wait: takenOverAfterMs * 1_000_000,
      });
    });
    const client = jetstream(connection);
    const consumer = await client.consumers.get(stream, group);

    const keep = async ({ message, code, reason }: RefusedMessage): Promise<void> => {
      const about = headers();
      about.set('code', code);
      about.set('reason', printable(reason));
      about.set('seq', String(message.sent.seq));
      // Within the time in which the server knows the id, it is kept once.
      await client.publish(refusedOf(stream), message.sent.data, { msgID: message.id, headers: about });
    };
    const makeRefused = async (): Promise<void> => {
      const name = refusedOf(stream);
      await manager.streams.info(name).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return manager.streams.add({ name, subjects: [name] });
      });
    };

    return {
      async read(most) {
        const first = await consumer.next({ expires: WAIT_MS });
        if (first === null) return [];
        // As many as there are, so that it waits for no others. If it left off before all have come, what the server sends
        // meanwhile would be lost until it is taken over. What comes again is sent first, and is not counted.
        const more = first.redelivered ? most - 1 : Math.min(most - 1, first.info.pending);
        const sent = [first];
        if (more > 0)
          for await (const one of await consumer.fetch({ max_messages: more, expires: WAIT_MS }))
            sent.push(one);
        // A stream that was deleted and made again numbers from one.
        return sent.map((one) => ({
          ...{ id: `${stream} ${created} ${String(one.seq)}`, text: one.string(), sent: one },
        }));
      },
      hold(messages) {
        // On a connection that is lost it does nothing: others take the messages then.
        for (const { sent } of messages) sent.working();
        return Promise.resolve();
      },
      async conclude({ recorded, refused, later }) {
        if (refused.length > 0) await makeRefused();
        await Promise.all(refused.map(keep));
        for (const { sent } of recorded) sent.ack();
        for (const { message } of refused) message.sent.ack();
        for (const { sent } of later) sent.nak(takenOverAfterMs);
        await connection.flush();
      },
      [Symbol.asyncDispose]: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface RefusedMessage {
  readonly message: NatsMessage;
  readonly code: string;
  readonly reason: string;
}

function isNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.status === NOT_FOUND;
}

/** A header is one line. */
function printable(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
