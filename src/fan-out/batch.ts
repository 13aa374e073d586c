import { reachesFollowers } from '../domain/audience.ts';
import { clock } from '../lib/clock.ts';
import { packed } from '../lib/turn.ts';
import type { Claim } from './store/fan-outs.ts';
import { traced } from '../telemetry/tracing.ts';
import { announcementsToLists, announceToNamed } from '../feed/announce.ts';
import { recordDelivered } from './record-delivered.ts';
import { firstPages, type AudienceReader } from './audience.ts';
import { audienceChunks, chunkSizeOf, deliverChunks, type AudienceChunks } from './deliver.ts';
import type { PassContext } from './passes.ts';

/** Most readers of an action that is delivered together with others: it does not hold them up. */
const MOST_READERS = 250;

/** An action that is delivered together with others: its whole audience. */
export interface SmallDelivery {
  readonly claim: Claim;
  readonly chunk: readonly AudienceReader[];
}

/** An action that has a pass of its own, with its audience if that is being read. */
export interface Alone {
  readonly claim: Claim;
  readonly audience?: AudienceChunks;
}

/**
 * Reads the audiences of first deliveries and divides the batch: small audiences are delivered together; everything else goes
 * alone, so that it does not delay them. What they have in common is read once: usually one query of followers for all.
 *
 * @returns groups of small deliveries, each for one write.
 */
export async function openBatch(
  context: PassContext,
  claims: readonly Claim[],
  maxAttempts: number,
): Promise<{ readonly together: readonly (readonly SmallDelivery[])[]; readonly alone: readonly Alone[] }> {
  const isPushed = await pushes(context, claims);
  const first = claims.filter(
    (claim) => claim.attempts <= maxAttempts && isFirstDelivery(claim) && isPushed(claim),
  );
  const pages = firstPages(
    context,
    first.map(({ action }) => action),
  );
  const together: SmallDelivery[] = [];
  const alone: Alone[] = claims.filter((claim) => !first.includes(claim)).map((claim) => ({ claim }));
  await Promise.all(
    first.map(async (claim) => {
      const audience = audienceChunks(context, claim, pages);
      const begin = await audience.next();
      const chunk = begin.done === true ? [] : begin.value.value;
      const isWhole = begin.done === true || begin.value.isLast;
      if (isWhole && chunk.length <= MOST_READERS) together.push({ claim, chunk });
      else alone.push({ claim, audience: startingWith(begin, audience) });
    }),
  );
  const most = Math.max(...claims.map((claim) => chunkSizeOf(context, claim)));
  return { together: packed(together, ({ chunk }) => chunk.length, most), alone };
}

/**
 * Nothing has changed the action, and its pass has not failed: it is nothing but a delivery. One worker may have died in the
 * middle of it; what was cut off more often goes alone, in case it is the cause.
 */
function isFirstDelivery({ action, version, begun, afterUserId }: Claim): boolean {
  const isUntouched = version === 1 && !action.isBumped && !action.isHidden && action.fanOut.error === null;
  return isUntouched && begun <= 2 && afterUserId === null;
}

/** Whether all refs of an action are pushed. Without a query as a rule. */
async function pushes(
  { pulledRefs }: PassContext,
  claims: readonly Claim[],
): Promise<(claim: Claim) => boolean> {
  if (!claims.some(({ action }) => reachesFollowers(action))) return () => true;
  const active = await pulledRefs.active(clock.now());
  return ({ action }) =>
    action.pullRefIds.length === 0 &&
    !(reachesFollowers(action) && action.refIds.some((refId) => active.has(refId)));
}

async function* startingWith<T>(
  begin: IteratorResult<T, void>,
  rest: AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  if (begin.done === true) return;
  yield begin.value;
  yield* rest;
}

/** Delivers to all of these audiences with one write of a kind. Returns the numbers of readers served. */
export async function deliverTogether(
  context: PassContext,
  deliveries: readonly SmallDelivery[],
): Promise<readonly number[]> {
  const count = deliveries.reduce((sum, { chunk }) => sum + chunk.length, 0);
  const [served] = await Promise.all([
    traced('chunk', { 'fanfare.readers': count }, () =>
      deliverChunks(
        context,
        deliveries.map(({ claim, chunk }) => ({
          ...{ claim, action: claim.action, interactions: [], chunk, isFirstAttempt: !claim.wasCutOff },
        })),
        { toLists: deliveries.flatMap(({ claim }) => announcementsToLists(claim)) },
      ),
    ),
    announceToNamed(
      context,
      deliveries.map(({ claim }) => claim),
    ),
  ]);
  // When watchers have been notified, and before the end of the passes: for what has ended, hosts have been notified.
  await recordDelivered(context, deliveries);
  return served.map(({ length }) => length);
}
