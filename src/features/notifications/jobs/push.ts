import { createPushClient, type PushClient } from '../../../connections/push-client.ts';
import { encodeActionId, encodeNotificationId } from '../../../domain/node-ids.ts';
import { plainId } from '../../../domain/stored-id.ts';
import { MAX_RETRY_AFTER_MS, retryDelayMs } from '../../../domain/webhook.ts';
import type { Job, JobSetup, Round } from '../../../jobs/job.ts';
import { clock } from '../../../lib/clock.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { type DuePush, isPushDue, type QueuedPush } from '../store/push.ts';

/** After this a message is given up. */
const KEPT_MS = 86_400_000;
const MAX_AT_ONCE = 16;
/** Beside the time of a request. */
const LEASE_SLACK_MS = 20_000;
/** What every push service takes, once it is encrypted. */
const MAX_BODY_BYTES = 3_000;
/** The push service does not know the browser any more. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

/** Sends push messages. None without keys for them. */
export function push(setup: JobSetup): readonly Job[] {
  const { events, push: keys } = setup.config;
  if (keys === null || events.notifyAfterMs === null) return [];
  const { timeoutMs } = events.webhooks;
  return [pushJob(setup, createPushClient({ ...keys, timeoutMs, allowPrivateAddress: false }))];
}

/**
 * Sends the messages of each browser in order, one at a time, and those of different browsers beside each other. A round does not
 * wait for them: a push service that does not answer holds one of the places until the time limit.
 */
export function pushJob({ core, config }: JobSetup, client: PushClient): Job {
  const { pushRegistrations } = core;
  const leaseMs = config.events.webhooks.timeoutMs + LEASE_SLACK_MS;
  const running = new Set<Promise<void>>();
  return {
    name: 'push messages',
    every: config.fanOut.pollMs,
    due: [{ collection: 'pushRegistrations', filter: isPushDue }],
    async run(round) {
      const free = MAX_AT_ONCE - running.size;
      if (free === 0) return false;
      const token = newObjectId();
      const claims = await pushRegistrations.claimDue({ token, now: round.now, leaseMs }, free);
      for (const claim of claims) {
        const end = send(claim, round)
          .catch(round.failed)
          .finally(() => {
            running.delete(end);
            round.wake();
          });
        running.add(end);
      }
      return false;
    },
    async close() {
      await Promise.all(running);
    },
  };

  async function send(claim: DuePush, { now, signal }: Round): Promise<void> {
    const isOld = ({ at }: QueuedPush): boolean => now.getTime() - at.getTime() >= KEPT_MS;
    const done = claim.messages.filter(isOld).map(({ id }) => id);
    const message = claim.messages.find((one) => !isOld(one));
    if (message === undefined) {
      await pushRegistrations.settle(claim, done, now);
      return;
    }
    const ttl = Math.ceil((message.at.getTime() + KEPT_MS - now.getTime()) / 1_000);
    let outcome;
    try {
      outcome = await client.send(claim, { body: bodyOf(claim.userId, message), ttl }, signal);
    } catch (error) {
      if (signal.aborted) await pushRegistrations.release(claim, clock.now());
      else await pushRegistrations.release(claim, later(claim, now, 0), { error });
      return;
    }
    if (outcome.isTaken) await pushRegistrations.settle(claim, [...done, message.id], now);
    else if (GONE.has(outcome.status ?? 0)) await pushRegistrations.forget(claim);
    else await pushRegistrations.release(claim, later(claim, now, outcome.retryAfterMs ?? 0), outcome);
  }
}

function later({ attempts }: DuePush, now: Date, askedMs: number): Date {
  const asked = Math.min(MAX_RETRY_AFTER_MS, askedMs);
  return new Date(now.getTime() + Math.max(asked, retryDelayMs(attempts, Math.random())));
}

/** Ids only: no text that anybody wrote, and no name. */
function bodyOf(userId: string, { total, notifications }: QueuedPush): string {
  const shown = notifications.map(({ key, kind, actionId, count }) => ({
    ...{ id: encodeNotificationId(plainId(userId), key), kind },
    ...{ actionId: actionId === null ? null : encodeActionId(actionId), count },
  }));
  for (;;) {
    const body = JSON.stringify({ total, notifications: shown });
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES || shown.length === 0) return body;
    shown.pop();
  }
}
