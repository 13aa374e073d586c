import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { DeclaredView } from '../descriptors/host-views.ts';
import type { UserId } from '../domain/action.ts';
import { MAX_OFFERED, type Offer, type Offers } from '../domain/offer.ts';
import { plainId, tenantOf } from '../domain/stored-id.ts';
import { readGlobalId } from '../graphql/global-id.ts';
import type { Closer } from '../lib/closer.ts';
import { logSourceFailed } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { posted } from './hooks.ts';

/** How long an answer counts, also that there was none. */
const KEPT_MS = 30_000;
/** Each view says so often that its source does not answer. */
const LOGGED_EVERY_MS = 60_000;
/** An entry takes at most some 120 bytes. */
const MOST_BYTES = 65_536;
/** Actions of all kept answers together: some 25 MB. */
const MOST_KEPT = 250_000;

const answerSchema = z
  .array(z.object({ actionId: z.string(), score: z.number() }))
  .max(MAX_OFFERED, `Must be at most ${String(MAX_OFFERED)} actions`);

interface OffersOptions {
  readonly views: () => readonly DeclaredView[];
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'sourceAnswered'>;
  /** Owns the connections. */
  readonly closer: Closer;
  /** Milliseconds. Default: those of the process. */
  readonly now?: () => number;
}

/** Asks the hosts of views with a source: once at a time for each reader and view, and not again while an answer counts. */
export function createOffers({
  views,
  logger,
  metrics,
  closer,
  now = () => performance.now(),
}: OffersOptions): Offers {
  const asking = new Map<string, Promise<Offer | null>>();
  const kept = new LRUCache<string, { readonly offer: Offer | null; readonly until: number }>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ offer }) => 1 + (offer?.size ?? 0),
  });
  const hosts = new Map<string, ((what: object) => Promise<unknown>) | null>();
  const loggedAt = new Map<string, number>();

  function hostOf(name: string): ((what: object) => Promise<unknown>) | null {
    let host = hosts.get(name);
    if (host !== undefined) return host;
    const source = views().find((view) => view.name === name)?.source ?? null;
    host = source && posted('source', source, { timeoutMs: source.timeoutMs, mostBytes: MOST_BYTES }, closer);
    hosts.set(name, host);
    return host;
  }

  async function ask(view: string, userId: UserId): Promise<Offer | null> {
    const host = hostOf(view);
    if (host === null) return null;
    try {
      const tenant = tenantOf(userId);
      const memberId = plainId(userId);
      const answer = await host({
        view,
        memberId,
        ...(tenant === null ? {} : { tenant }),
        most: MAX_OFFERED,
      });
      const offer = offerIn(answer);
      metrics.sourceAnswered(view, 'answered');
      return offer;
    } catch (err) {
      metrics.sourceAnswered(view, 'failed');
      if (now() - (loggedAt.get(view) ?? -Infinity) >= LOGGED_EVERY_MS) {
        loggedAt.set(view, now());
        logSourceFailed(logger, { view, err });
      }
      return null;
    }
  }

  return {
    of(view, userId) {
      const key = JSON.stringify([view, userId]);
      const known = kept.get(key);
      if (known !== undefined && now() < known.until) return Promise.resolve(known.offer);
      const pending = asking.get(key);
      if (pending !== undefined) return pending;
      const answer = ask(view, userId).then((offer) => {
        asking.delete(key);
        kept.set(key, { offer, until: now() + KEPT_MS });
        return offer;
      });
      asking.set(key, answer);
      return answer;
    },
  };
}

/** Of an action that is named twice the first counts. @throws ZodError if it is not such a list */
function offerIn(answer: unknown): Offer {
  const offer = new Map<string, number>();
  for (const { actionId, score } of answerSchema.parse(answer)) {
    const id = readGlobalId(actionId);
    if (id?.type === 'Action' && !offer.has(id.actionId)) offer.set(id.actionId, score);
  }
  return offer;
}
