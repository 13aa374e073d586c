import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { UserId } from '../../domain/action.ts';
import { actionIdIn } from '../../domain/node-ids.ts';
import { MAX_OFFERED, type Offer, type Offers } from '../../domain/offer.ts';
import { inHostForm } from '../../domain/stored-id.ts';

/** How long an answer counts, also that there was none. */
const KEPT_MS = 30_000;
/** Actions of all kept answers together: some 25 MB. */
const MOST_KEPT = 250_000;

/** Upper bound on bytes of an answer: an entry takes at most some 120. */
export const MOST_OFFER_BYTES = 65_536;

const answerSchema = z
  .array(z.object({ actionId: z.string(), score: z.number() }))
  .max(MAX_OFFERED, `Must be at most ${String(MAX_OFFERED)} actions`);

interface OffersOptions {
  /** Asks the source of a view; `null`: it has none. Rejects without an answer in JSON, within the time limit of the source. */
  readonly hostOf: (view: string) => ((what: object) => Promise<unknown>) | null;
  /** @param err why there is no answer that makes sense; `null`: there is one */
  readonly onAnswer: (view: string, err: unknown) => void;
  /** Milliseconds. Default: those of the process. */
  readonly now?: () => number;
}

/** Asks the hosts of views with a source: once at a time for each reader and view, and not again while an answer counts. */
export function createOffers({ hostOf, onAnswer, now = () => performance.now() }: OffersOptions): Offers {
  const asking = new Map<string, Promise<Offer | null>>();
  const kept = new LRUCache<string, { readonly offer: Offer | null; readonly until: number }>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ offer }) => 1 + (offer?.size ?? 0),
  });
  const hosts = new Map<string, ReturnType<typeof hostOf>>();

  async function ask(view: string, userId: UserId): Promise<Offer | null> {
    const host = hosts.get(view) ?? hostOf(view);
    hosts.set(view, host);
    if (host === null) return null;
    try {
      const offer = offerIn(await host(inHostForm(userId, { view, memberId: userId, most: MAX_OFFERED })));
      onAnswer(view, null);
      return offer;
    } catch (err) {
      onAnswer(view, err);
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
    const id = actionIdIn(actionId);
    if (id !== null && !offer.has(id)) offer.set(id, score);
  }
  return offer;
}
