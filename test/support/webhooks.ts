import type { WebhookReceiver } from '../../parts/webhooks/src/receivers.ts';
import type { Collections } from '../../src/storage/database/mongo.ts';
import { JobRunner } from '../../src/jobs/job.ts';
import {
  webhookJob,
  webhooks,
  type WebhookJobOptions,
  type WebhookObserver,
} from '../../parts/webhooks/src/deliveries.ts';
import { senderTo } from '../../parts/webhooks/src/sender.ts';
import { FAILING, runnerOf } from './jobs.ts';
import { storageContext } from './storage-context.ts';
import { uniqueName } from './unique-name.ts';

const HOUR_MS = 3_600_000;

export interface TestWebhookOptions extends Omit<Partial<WebhookJobOptions>, 'observer'> {
  readonly timeoutMs?: number;
  readonly observer?: Partial<WebhookObserver>;
}

/** A clock that the test moves. */
export function movableClock(): { now: () => Date; move: (ms: number) => void } {
  let time = Date.now();
  return {
    now: () => new Date(time),
    move: (ms) => {
      time += ms;
    },
  };
}

/** A worker for one receiver that nothing starts. */
export function webhookWorker(
  collections: Collections,
  receiver: WebhookReceiver,
  options: TestWebhookOptions = {},
): JobRunner {
  const { now = () => new Date(), timeoutMs = 10_000, observer, ...rest } = options;
  const job = webhookJob(storageContext(collections), {
    sender: senderTo(receiver, { timeoutMs, maxConnections: 8 }),
    now,
    random: () => 0,
    observer: {
      attempted: () => undefined,
      down: () => undefined,
      up: () => undefined,
      givenUp: () => undefined,
      skipped: () => undefined,
      behind: () => undefined,
      ...observer,
    },
    ...{ receiver, workerId: uniqueName('webhooks'), leaseMs: 30_000 },
    ...{ name: 'webhooks', every: 20 },
    // Rounds wait for all of their requests, however busy the machine is.
    ...{ retryForMs: 72 * HOUR_MS, slowAfterMs: HOUR_MS, ...rest },
  });
  return new JobRunner(job, { logger: FAILING });
}

/** Nothing is sent with it. */
const ANY_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;

/** One round of the job that ends and deletes what nothing is sent of any more. */
export async function cleanRecords(
  collections: Collections,
  receivers: readonly WebhookReceiver[],
): Promise<void> {
  const given = receivers.map(({ url, stream }) =>
    stream === null ? { url, secrets: [ANY_SECRET], allowPrivateAddress: true } : { url },
  );
  const env = { WEBHOOKS: JSON.stringify(given) };
  await using records = runnerOf(webhooks, storageContext(collections), { env });
  await records.round();
}

/** Rounds until nothing is due or new. */
export async function sendAll(worker: JobRunner): Promise<void> {
  while (await worker.round());
}
