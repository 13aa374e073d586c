import { jetstream } from '@nats-io/jetstream';
import { connectNats } from '../../../src/connections/nats.ts';
import type { StreamAddress } from '../../../src/domain/stream-address.ts';
import type { EventStream } from './event-stream.ts';

/** Messages of a subject, which a stream of JetStream must have. What it has already, by the id of the event, it drops. */
export async function openJetStream(
  { server, stream: subject }: StreamAddress,
  timeoutMs: number,
): Promise<EventStream> {
  const connection = await connectNats(server, 'fanfare-events');
  const client = jetstream(connection, { timeout: timeoutMs });
  return {
    async put({ id, body }) {
      try {
        await client.publish(subject, body, { msgID: id });
      } catch (error) {
        if (!(error instanceof Error && error.name === 'JetStreamNotEnabled')) throw error;
        throw new Error(`No stream of JetStream has the subject ${subject}`, { cause: error });
      }
    },
    isLost: () => connection.isClosed(),
    close: () => connection.close(),
  };
}
