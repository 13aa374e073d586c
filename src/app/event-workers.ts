import { createWebhookClient } from '../connections/webhook-client.ts';
import type { WebhookReceiver } from '../domain/webhook.ts';
import { clock } from '../lib/clock.ts';
import { EventMover } from '../features/events/jobs/event-mover.ts';
import { DigestWorker } from '../features/events/jobs/digest-worker.ts';
import type { BackgroundWorker } from '../jobs/background-worker.ts';
import { CONCURRENT_REQUESTS } from '../features/webhooks/jobs/in-turns.ts';
import { WebhookWorker, type WebhookObserver } from '../features/webhooks/jobs/webhook-worker.ts';
import {
  logWebhookBack,
  logWebhookDown,
  logWebhookGivenUp,
  logWebhookSkipped,
} from '../telemetry/events/webhooks.ts';
import { logWorkerTrouble } from '../telemetry/events/workers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { JobSetup } from '../jobs/job.ts';

/** Workers for host events; none when events are not recorded. */
export function eventWorkers({
  config,
  core,
  workerId,
  logger,
  metrics,
  countUnread,
  eventsMoved,
}: JobSetup): BackgroundWorker[] {
  const { events, fanOut } = config;
  if (events.retentionMs === null) return [];
  const { leaseMs, pollMs } = fanOut;
  const onError = (err: unknown): void => {
    logWorkerTrouble(logger, { err });
  };
  const { receivers, timeoutMs, retryForMs } = events.webhooks;
  const mover = new EventMover(core, {
    onMoved: () => {
      eventsMoved.notify('webhooks');
    },
    onError,
    ...{ workerId, workSignal: core.workSignal, leaseMs, pollMs },
    ...{ retentionMs: events.retentionMs, digests: events.digests },
    receiverUrls: receivers.map(({ url }) => url),
  });
  const webhooks = receivers.map((receiver) => {
    const { url, allowPrivateAddress } = receiver;
    const client = createWebhookClient({
      ...{ url, allowPrivateAddress, timeoutMs, maxConnections: CONCURRENT_REQUESTS },
    });
    const observer = webhookObserver(nameOf(receiver, receivers), logger, metrics);
    const now = (): Date => clock.now();
    return new WebhookWorker(core, {
      ...{ client, now, random: Math.random, observer },
      ...{ receiver, workerId, workSignal: eventsMoved, leaseMs, pollMs, retryForMs },
    });
  });
  const digests =
    events.digests === null
      ? []
      : [
          new DigestWorker(core, {
            ...{ countUnread, mayLook: () => mover.hasLease, onError, pollMs },
            afterMs: events.digests.afterMs,
          }),
        ];
  return [mover, ...digests, ...webhooks];
}

/** Name of a receiver in logs and metrics. Omits path and query, which may contain secrets. */
function nameOf({ url }: WebhookReceiver, receivers: readonly WebhookReceiver[]): string {
  const { host } = new URL(url);
  const namesakes = receivers.filter((other) => new URL(other.url).host === host);
  const place = namesakes.findIndex((other) => other.url === url);
  return place === 0 ? host : `${host}#${String(place + 1)}`;
}

function webhookObserver(receiver: string, logger: Logger, metrics: Metrics): WebhookObserver {
  return {
    attempted(isTaken, seconds) {
      metrics.webhookAttempted({ receiver, isTaken, seconds });
    },
    down(error) {
      logWebhookDown(logger, { receiver, error });
    },
    up() {
      logWebhookBack(logger, { receiver });
    },
    givenUp(delivery) {
      metrics.webhookGivenUp(receiver);
      logWebhookGivenUp(logger, { receiver, ...delivery });
    },
    skipped(events) {
      logWebhookSkipped(logger, { receiver, events });
    },
    behind(events) {
      metrics.webhookBehind(receiver, events);
    },
    failed(err) {
      logWorkerTrouble(logger, { err });
    },
  };
}
