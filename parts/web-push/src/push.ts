import { decideDue } from '../../notifications/src/due.ts';
import { NOTIFICATIONS } from '../../notifications/src/settings.ts';
import { notificationsOf } from '../../notifications/src/store/notifications.ts';
import { type PostOutcome, createPostClient } from '../../../src/connections/post-client.ts';
import { encodeActionId, encodeNotificationId } from '../../../src/domain/node-ids.ts';
import { quietUntil } from '../../../src/domain/quiet-hours.ts';
import { plainId } from '../../../src/domain/stored-id.ts';
import { MAX_RETRY_AFTER_MS, retryDelayMs } from '../../../src/domain/signature.ts';
import type { Job, JobSetup, Round } from '../../../src/jobs/job.ts';
import { clock } from '../../../src/lib/clock.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { logPushBack, logPushFailing, logPushGivenUp, logPushRefused } from './log.ts';
import { pushMetrics, type PushOutcome } from './metrics.ts';
import { PUSH } from './settings.ts';
import {
  type DuePush,
  type PushPlaces,
  type QueuedPush,
  contentOf,
  isPushDue,
  pushRegistrationsRepository,
} from './store.ts';

/** After this a message is given up. */
const KEPT_MS = 86_400_000;
/** After this, and when it is tried again, it is decided once more whether it is sent. */
const LATE_AFTER_MS = 60_000;
const MAX_AT_ONCE = 16;
/** Of these, for one push service. */
const MAX_PER_SERVICE = 4;
/** And for one member, who names the services: as many as there are names. */
const MAX_PER_MEMBER = 4;
/** Attempts in a row without any answer after which a push service is left alone for a while. */
const RESTS_AFTER = 4;
const REST_MS = 60_000;
/** Attempts in a row that take no message, after which the log says so. */
const REPORTED_AFTER = 4;
/** Upper bound on push services that are remembered: members name them. */
const MAX_SERVICES = 1_000;
/** Of a request, from the DNS look-up to the end of the answer. */
const TIMEOUT_MS = 10_000;
/** Beside the time of a request. */
const LEASE_SLACK_MS = 20_000;
/** The largest message that every push service takes, once it is encrypted. */
const MAX_BODY_BYTES = 3_000;
/** The push service does not know the browser any more. */
const GONE: ReadonlySet<number> = new Set([404, 410]);
/** The push service will never take this message: it does not understand it, or it is too long. */
const NEVER: ReadonlySet<number> = new Set([400, 413]);
/** The push service does not know the keys of this server, or not for this browser, which has to register again. */
const FOREIGN_KEYS: ReadonlySet<number> = new Set([401, 403]);

/** Sends push messages. None without keys for them. */
export function push(setup: JobSetup): readonly Job[] {
  const { notifyAfterMs } = setup.config.of(NOTIFICATIONS);
  const keys = setup.config.of(PUSH);
  if (keys === null || notifyAfterMs === null) return [];
  return [pushJob(setup, createPushClient({ ...keys, timeoutMs: TIMEOUT_MS, allowPrivateAddress: false }))];
}

/**
 * Sends the messages of each browser in order, one at a time, and those of different browsers beside each other. A round does not
 * wait for them: a push service that does not answer holds some of the places until the time limit, and then none for a while.
 */
export function pushJob({ core, config, logger, metrics }: JobSetup, client: PushClient): Job {
  const pushRegistrations = pushRegistrationsRepository(core.collections);
  const { pushAttempted } = metrics.of(pushMetrics);
  const leaseMs = TIMEOUT_MS + LEASE_SLACK_MS;
  const running = new Set<Promise<void>>();
  const services = new PushServices({
    failing: (service, error) => logPushFailing(logger, { service, error }),
    back: (service) => logPushBack(logger, { service }),
  });
  const members = new PushMembers();
  return {
    name: 'push messages',
    every: config.fanOut.pollMs,
    due: [{ collection: 'pushRegistrations', filter: isPushDue }],
    async run(round) {
      const free = MAX_AT_ONCE - running.size;
      if (free === 0) return false;
      const token = newObjectId();
      const places = placesOf(services.places(round.now), members);
      const claims = await pushRegistrations.claimDue({ token, now: round.now, leaseMs }, free, places);
      for (const claim of claims) {
        const service = services.begin(claim.endpoint);
        members.begin(claim.userId);
        const end = send(claim, round, service)
          .catch(round.failed)
          .finally(() => {
            service.running -= 1;
            members.end(claim.userId);
            running.delete(end);
            round.wake();
          });
        running.add(end);
      }
      // Without the services that are full now, others come first.
      return places.hasRefused() && running.size < MAX_AT_ONCE;
    },
    async close() {
      await Promise.all(running);
    },
  };

  async function send(claim: DuePush, { now, signal }: Round, service: PushService): Promise<void> {
    const isOld = ({ at }: QueuedPush): boolean => now.getTime() - at.getTime() >= KEPT_MS;
    const done = claim.messages.filter(isOld).map(({ id }) => id);
    if (done.length > 0) {
      pushAttempted('given_up', done.length);
      const { error = 'No attempt was made', endpoint } = claim;
      logPushGivenUp(logger, { service: new URL(endpoint).host, messages: done.length, error });
    }
    const queued = claim.messages.find((one) => !isOld(one));
    if (queued === undefined) {
      await pushRegistrations.settle(claim, done, now);
      return;
    }
    const message = await decided(claim, queued, now).catch(async (error: unknown) => {
      await pushRegistrations.release(claim, later(claim, 0), { error });
      throw error;
    });
    if (message instanceof Date) {
      await pushRegistrations.wait(claim, message);
      return;
    }
    if (message === null) {
      await pushRegistrations.settle(claim, [...done, queued.id], now);
      return;
    }
    const ttl = Math.ceil((message.at.getTime() + KEPT_MS - now.getTime()) / 1_000);
    let outcome;
    try {
      outcome = await client.send(claim, { body: bodyOf(claim.userId, message), ttl }, signal);
    } catch (error) {
      if (signal.aborted) await pushRegistrations.release(claim, clock.now());
      else {
        pushAttempted('unanswered');
        await pushRegistrations.release(claim, later(claim, 0), { error });
      }
      return;
    }
    pushAttempted(outcomeClass(outcome));
    services.note(claim.endpoint, service, outcome);
    if (outcome.isTaken) await pushRegistrations.settle(claim, [...done, message.id], now);
    else if (GONE.has(outcome.status ?? 0)) await pushRegistrations.forget(claim);
    else if (NEVER.has(outcome.status ?? 0) || FOREIGN_KEYS.has(outcome.status ?? 0)) {
      // With keys that are not known no other message is taken either.
      const refused = NEVER.has(outcome.status ?? 0) ? [message.id] : claim.messages.map(({ id }) => id);
      logPushRefused(logger, {
        ...{ service: new URL(claim.endpoint).host, messages: refused.length, error: outcome.error },
      });
      await pushRegistrations.settle(claim, [...done, ...refused], now);
    } else await pushRegistrations.release(claim, later(claim, outcome.retryAfterMs ?? 0), outcome);
  }

  /**
   * The part of a late message that the member is still to be notified of; a time: nothing until then, which is quiet; `null`:
   * nothing any more.
   */
  async function decided(
    { userId, attempts }: DuePush,
    message: QueuedPush,
    now: Date,
  ): Promise<QueuedPush | Date | null> {
    const isLate = attempts > 1 || now.getTime() - message.at.getTime() > LATE_AFTER_MS;
    if (!isLate) return message;
    const state = await notificationsOf(core).state(userId);
    const quiet = state.quietHours === null ? null : quietUntil(state.quietHours, now);
    if (quiet !== null) return quiet;
    const due = await decideDue(core, { id: userId, pending: message.pending, state });
    const pushed = due.filter(({ channels }) => channels.includes('PUSH'));
    return pushed.length === 0 ? null : { ...message, ...contentOf(pushed) };
  }
}

function outcomeClass(outcome: PostOutcome): PushOutcome {
  if (outcome.isTaken) return 'taken';
  if (outcome.status === undefined) return 'unanswered';
  return GONE.has(outcome.status) ? 'gone' : 'refused';
}

/** How many messages of each member are being sent. */
class PushMembers {
  readonly #running = new Map<string, number>();

  get busy(): string[] {
    return [...this.#running].flatMap(([userId, running]) => (running >= MAX_PER_MEMBER ? [userId] : []));
  }

  of(userId: string): number {
    return this.#running.get(userId) ?? 0;
  }

  begin(userId: string): void {
    this.#running.set(userId, this.of(userId) + 1);
  }

  end(userId: string): void {
    const left = this.of(userId) - 1;
    if (left > 0) this.#running.set(userId, left);
    else this.#running.delete(userId);
  }
}

interface ServicePlaces {
  readonly closed: readonly string[];
  readonly take: (endpoint: string) => boolean;
  readonly hasRefused: () => boolean;
}

/** The places of a round, by push service and by member. */
function placesOf(
  services: ServicePlaces,
  members: PushMembers,
): PushPlaces & { readonly hasRefused: () => boolean } {
  const taken = new Map<string, number>();
  let hasRefused = false;
  return {
    ...{ closed: services.closed, busy: members.busy },
    take({ endpoint, userId }) {
      const before = taken.get(userId) ?? 0;
      const isFree = before + members.of(userId) < MAX_PER_MEMBER;
      if (!isFree) hasRefused = true;
      if (!isFree || !services.take(endpoint)) return false;
      taken.set(userId, before + 1);
      return true;
    },
    hasRefused: () => hasRefused || services.hasRefused(),
  };
}

interface PushService {
  running: number;
  /** Attempts in a row that had no answer. */
  unanswered: number;
  /** Attempts in a row that took no message. */
  failed: number;
  /** Milliseconds since the epoch. */
  restsUntil: number;
}

interface PushObserver {
  failing(service: string, error: string): void;
  back(service: string): void;
}

/** Which push services are sent something, and how they do, as this process has seen. */
class PushServices {
  readonly #services = new Map<string, PushService>();
  readonly #observer: PushObserver;

  constructor(observer: PushObserver) {
    this.#observer = observer;
  }

  /** The places of a round. */
  places(now: Date): ServicePlaces {
    const taken = new Map<string, number>();
    let hasRefused = false;
    const left = (origin: string): number => {
      const service = this.#services.get(origin);
      if (service === undefined) return MAX_PER_SERVICE;
      if (now.getTime() < service.restsUntil) return 0;
      // After a rest one attempt says whether it answers again.
      return (service.unanswered >= RESTS_AFTER ? 1 : MAX_PER_SERVICE) - service.running;
    };
    return {
      closed: [...this.#services.keys()].filter((origin) => left(origin) <= 0),
      take: (endpoint) => {
        const { origin } = new URL(endpoint);
        const before = taken.get(origin) ?? 0;
        const isFree = before < left(origin);
        if (isFree) taken.set(origin, before + 1);
        else hasRefused = true;
        return isFree;
      },
      hasRefused: () => hasRefused,
    };
  }

  begin(endpoint: string): PushService {
    const { origin } = new URL(endpoint);
    const service = this.#services.get(origin) ?? {
      ...{ running: 0, unanswered: 0, failed: 0, restsUntil: 0 },
    };
    service.running += 1;
    this.#services.delete(origin);
    this.#services.set(origin, service);
    if (this.#services.size > MAX_SERVICES)
      for (const [other, { running }] of this.#services)
        if (running === 0) {
          this.#services.delete(other);
          break;
        }
    return service;
  }

  /** Notes how an attempt ended. */
  note(endpoint: string, service: PushService, outcome: PostOutcome): void {
    const isAnswered = outcome.isTaken || outcome.status !== undefined;
    service.unanswered = isAnswered ? 0 : service.unanswered + 1;
    if (service.unanswered >= RESTS_AFTER) service.restsUntil = clock.time() + REST_MS;
    const { host } = new URL(endpoint);
    if (outcome.isTaken || GONE.has(outcome.status ?? 0)) {
      if (service.failed >= REPORTED_AFTER) this.#observer.back(host);
      service.failed = 0;
    } else {
      service.failed += 1;
      if (service.failed === REPORTED_AFTER) this.#observer.failing(host, outcome.error);
    }
  }
}

/** Counted from the end of the attempt. */
function later({ attempts }: DuePush, askedMs: number): Date {
  const asked = Math.min(MAX_RETRY_AFTER_MS, askedMs);
  return new Date(clock.time() + Math.max(asked, retryDelayMs(attempts, Math.random())));
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

/** Where a browser takes push messages, and the keys that they are encrypted with. */
interface PushTarget {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

interface PushClientOptions {
  /** The keys by which push services know this server, in base64url. */
  readonly publicKey: string;
  readonly privateKey: string;
  /** The contact for push services in case of trouble: `mailto:` or `https:`. */
  readonly subject: string;
  /** Time limit of a whole attempt. */
  readonly timeoutMs: number;
  /** Also to private networks, and by plain HTTP. */
  readonly allowPrivateAddress: boolean;
}

interface PushMessage {
  readonly body: string;
  /** How long the push service keeps it, in seconds. */
  readonly ttl: number;
}

interface PushClient {
  /** Resolves within the time limit. Rejects when the signal aborts, and for keys that nothing can be encrypted with. */
  send(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<PostOutcome>;
}

/** Sends encrypted messages to push services, each by a connection of its own: members name the addresses. */
export function createPushClient(options: PushClientOptions): PushClient {
  const { publicKey, privateKey, subject, timeoutMs, allowPrivateAddress } = options;
  return {
    async send({ endpoint, p256dh, auth }, { body, ttl }, signal) {
      // Loaded by processes that send messages only.
      const { default: webPush } = await import('web-push');
      const { headers, body: encrypted } = webPush.generateRequestDetails(
        { endpoint, keys: { p256dh, auth } },
        body,
        { vapidDetails: { subject, publicKey, privateKey }, TTL: ttl },
      );
      const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      using client = createPostClient({
        url: endpoint,
        timeoutMs,
        allowPrivateAddress,
        maxConnections: 1,
      });
      return await client.post(Object.fromEntries(sent) as Record<string, string>, encrypted, signal);
    },
  };
}
