import type { Action, UserId } from '../domain/action.ts';
import { isNotFor, type InteractionGroup } from '../domain/relevancy.ts';
import type { DeliveryChunk, DeliveryOutcome, ReaderDelivery } from '../feed/feed-store.ts';
import { forEachInOrder } from '../lib/turn.ts';
import { markLast, prefetch } from '../lib/prefetch.ts';
import type { Claim } from './store/fan-outs.ts';
import {
  announce,
  announcementsToLists,
  announceToNamed,
  type Announcement,
  FEW,
  surviveLiveLog,
} from '../feed/announce.ts';
import type { EntryEvent } from '../live/live-log.ts';
import type { PassOutcome, Reached, Fence, PassContext, LiftedClaim } from './passes.ts';
import {
  audienceOf,
  type AudienceMember,
  type AudienceReader,
  type FirstPages,
  audienceAmong,
  formerlyAmong,
} from './audience.ts';
import { raiseFloors } from '../feed/trim-feeds.ts';
import { asCounting, relevancies } from '../feed/relevancies.ts';
import { traced } from '../telemetry/tracing.ts';
import { clock } from '../lib/clock.ts';
import { recordDelivered } from './record-delivered.ts';
import type { Context } from '../feed/context.ts';

/** Watchers per query. */
const CHUNK = 500;
/** Upper bound on watchers examined: with more, finding those concerned would take longer than waiting for their chunk. */
const MOST = 2_000;
/** Watchers per chunk: while the next chunk is written, the previous one is announced. */
const WATCHERS_AT_ONCE = 250;
/** The same while other passes keep everybody busy anyway. */
const WATCHERS_AT_ONCE_IN_COMPANY = 1_000;

/** Decides how many watchers a chunk has. */
type Company = Fence;

/** Watchers in the audience with all reasons. Costs one presence list and a query per 500 watchers, for at most 2,000. */
async function* watchersAmongAudience(
  dependencies: Context,
  action: Action,
  company: Company,
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  const watched = await someWatched(dependencies);
  for (let from = 0; from < watched.length; from += CHUNK) {
    const audience = await audienceAmong(dependencies, action, watched.slice(from, from + CHUNK));
    // Entries that are only pulled are not delivered.
    const pushed = audience.flatMap(({ userId, reasons }) => {
      const kept = reasons.filter((reason) => reason !== 'PULL');
      return kept.length === 0 ? [] : [{ userId, reasons: kept }];
    });
    yield* slicesOf(pushed, company);
  }
}

/** The same for a known audience. One presence query; none if the whole audience is written at once. */
async function* watchersInChunk(
  { liveLog, onLiveLogError }: Context,
  chunk: readonly AudienceMember[],
  company: Company,
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  if (chunk.length <= WATCHERS_AT_ONCE) return;
  let watched: ReadonlySet<UserId>;
  try {
    watched = new Set(await liveLog.watched(chunk.map(({ userId }) => userId)));
  } catch (error) {
    onLiveLogError(error);
    return;
  }
  yield* slicesOf(
    chunk.filter(({ userId }) => watched.has(userId)),
    company,
  );
}

function* slicesOf(
  members: readonly AudienceMember[],
  company: Company,
): Generator<readonly AudienceMember[]> {
  let from = 0;
  while (from < members.length) {
    const to = from + (company.hasCompany() ? WATCHERS_AT_ONCE_IN_COMPANY : WATCHERS_AT_ONCE);
    yield members.slice(from, to);
    from = to;
  }
}

/** Nobody if the live log does not answer: it must not delay deliveries. */
async function someWatched({ liveLog, onLiveLogError }: Context): Promise<readonly UserId[]> {
  const watched = new Set<UserId>();
  try {
    for await (const userIds of liveLog.allWatched()) {
      for (const userId of userIds) watched.add(userId);
      if (watched.size >= MOST) break;
    }
  } catch (error) {
    onLiveLogError(error);
    return [];
  }
  return [...watched].slice(0, MOST);
}

/** Progress of a pass in audience order, and whether it must end early. */
class PassProgress {
  readonly #fence: Fence;
  #delivered: number;
  #lane: Claim['lane'];
  #reached: Reached | null = null;
  #isVoid = false;
  #isStopped = false;
  #hasGap = false;

  constructor({ delivered, lane }: Claim, fence: Fence) {
    this.#delivered = delivered;
    this.#lane = lane;
    this.#fence = fence;
  }

  get delivered(): number {
    return this.#delivered;
  }

  /** Lane of the next chunk, which may change during the pass. */
  get lane(): Claim['lane'] {
    return this.#lane;
  }

  /** The last checkpoint of this pass. */
  get reached(): Reached | null {
    return this.#reached;
  }

  /** Another worker has the action. */
  get isVoid(): boolean {
    return this.#isVoid;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  isStopping(): boolean {
    this.#isStopped ||= this.#fence.isStopping();
    return this.#isStopped;
  }

  async mayGoOn(): Promise<boolean> {
    this.#isVoid ||= !(await this.#fence.isHeld());
    return !this.isStopping() && !this.#isVoid;
  }

  /**
   * Counts a chunk; after the first skipped chunk, none counts.
   * @param delivered `null`: the chunk was skipped
   * @param last its last reader; undefined: it needs no checkpoint
   * @returns where to set a checkpoint
   */
  add(delivered: number | null, last: UserId | undefined): Reached | null {
    this.#hasGap ||= delivered === null;
    if (this.#hasGap) return null;
    this.#delivered += delivered ?? 0;
    if (this.#isVoid || last === undefined) return null;
    this.#reached = { afterUserId: last, delivered: this.#delivered };
    return this.#reached;
  }

  /** @param lane of the action at its checkpoint; `null`: the claim is void. */
  continueInLane(lane: Claim['lane'] | null): void {
    if (lane === null) this.#isVoid = true;
    else this.#lane = lane;
  }
}

/** Concurrent chunks of one pass. */
const CHUNKS_AT_ONCE = 3;
/** Concurrent chunks of watchers: while one is announced, the next is written. */
const WATCHERS_CHUNKS_AT_ONCE = 2;

/**
 * Delivers the chunks of an audience, a few concurrently, so that the database is busy while others are announced. Progress
 * is recorded in audience order: everything before a checkpoint is done. Watchers are served first, since they are waiting,
 * unless the whole audience fits into one write; a pass that continues from a checkpoint relies on the previous one for
 * that. Chunks of watchers do not queue for the gate, except in the lane BULK.
 */
export async function deliverToAll(
  dependencies: PassContext,
  { claim, interactions }: LiftedClaim,
  fence: Fence,
  audience: AudienceChunks = audienceChunks(dependencies, claim),
): Promise<PassOutcome> {
  const chunkSize = chunkSizeOf(dependencies, claim);
  const { action } = claim;
  const progress = new PassProgress(claim, fence);
  let begun = 0;
  // With the first chunk, so that it costs no command of its own. What continues from a checkpoint has done it.
  let toLists = claim.afterUserId === null ? announcementsToLists(claim) : [];
  let served: Promise<ReadonlySet<UserId>> | undefined;
  const watchersFirst = (watchers: Watchers): Promise<ReadonlySet<UserId>> => {
    const delivery = { claim, action, interactions };
    const deliver = (): Promise<ReadonlySet<UserId>> => deliverToWatchers(dependencies, delivery, watchers);
    return claim.lane === 'BULK'
      ? dependencies.gate.run({ lane: claim.lane, kind: 'fan-out' }, deliver)
      : deliver();
  };
  // They do not wait for the audience. What continues from a checkpoint has done it.
  if (claim.afterUserId === null) await announceToNamed(dependencies, [claim]);
  await forEachInOrder(audience, CHUNKS_AT_ONCE, {
    mayBegin: () => progress.mayGoOn(),
    async work({ value: chunk, isLast }) {
      served ??=
        claim.afterUserId === null
          ? watchersFirst(
              isLast
                ? watchersInChunk(dependencies, chunk, fence)
                : watchersAmongAudience(dependencies, action, fence),
            )
          : Promise.resolve(NOBODY);
      // An interrupted attempt may have written as many chunks beyond its checkpoint as run concurrently.
      const isFirstAttempt = claim.version === 1 && !(claim.wasCutOff && begun < CHUNKS_AT_ONCE);
      begun += 1;
      const isServed = await served;
      const others = isServed.size === 0 ? chunk : chunk.filter(({ userId }) => !isServed.has(userId));
      const delivery = { claim, action, interactions, chunk: others, isFirstAttempt };
      return dependencies.gate.run({ lane: progress.lane, kind: 'fan-out' }, async () => {
        // The chunk may have waited long for its turn.
        if (progress.isStopping()) return null;
        const also = toLists;
        toLists = [];
        const [[delivered = []]] = await Promise.all([
          traced('chunk', { 'fanfare.readers': others.length }, () =>
            deliverChunks(dependencies, [delivery], { toLists: also }),
          ),
          // Before the checkpoint: for everything before it, hosts have been notified.
          recordDelivered(dependencies, [{ claim, chunk }]),
        ]);
        return chunk.length - others.length + delivered.length;
      });
    },
    async conclude({ value: chunk }, delivered) {
      // Only the last chunk can be short, and the end of the pass serves as its checkpoint.
      const last = chunk.length < chunkSize ? undefined : chunk.at(-1);
      const reached = progress.add(delivered, last?.userId);
      if (reached === null) return;
      const leaseUntil = new Date(clock.time() + claim.leaseMs);
      progress.continueInLane(await dependencies.fanOuts.checkpoint(claim, reached, leaseUntil));
    },
  });
  if (progress.isVoid) return { kind: 'void', reached: progress.reached };
  if (progress.isStopped) return { kind: 'stopped' };
  if (begun === 0 && claim.afterUserId === null) await recordDelivered(dependencies, [{ claim, chunk: [] }]);
  await announce(dependencies, toLists, { asksWho: false });
  await announcePulled(dependencies, action, { claim, interactions });
  return { kind: 'complete', delivered: progress.delivered };
}

/** An audience in chunks; the last one is marked. */
export type AudienceChunks = AsyncIterable<{
  readonly value: readonly AudienceReader[];
  readonly isLast: boolean;
}>;

/** @param pages shared with other actions. */
export function audienceChunks(dependencies: PassContext, claim: Claim, pages?: FirstPages) {
  return prefetch(
    markLast(
      audienceOf(dependencies, claim.action, {
        ...{ afterUserId: claim.afterUserId, chunkSize: chunkSizeOf(dependencies, claim) },
        ...{ before: claim.toldAudience, ...(pages === undefined ? {} : { pages }) },
      }),
    ),
  );
}

/** Bulk chunks are half as large: urgent work does not queue behind a running chunk, but shares the database with it. */
export function chunkSizeOf({ chunkSize }: PassContext, { lane }: { readonly lane: Claim['lane'] }): number {
  return lane === 'BULK' ? Math.ceil(chunkSize / 2) : chunkSize;
}

const NOBODY: ReadonlySet<UserId> = new Set();

interface Delivery {
  readonly claim: Claim;
  readonly action: Action;
  readonly interactions: readonly InteractionGroup[];
}

type Watchers = AsyncIterable<readonly AudienceMember[]>;

/** Returns the readers served. */
async function deliverToWatchers(
  dependencies: PassContext,
  delivery: Delivery,
  watchers: Watchers,
): Promise<ReadonlySet<UserId>> {
  const { version, wasCutOff } = delivery.claim;
  const isFirstAttempt = version === 1 && !wasCutOff;
  const served = new Set<UserId>();
  await forEachInOrder(watchers, WATCHERS_CHUNKS_AT_ONCE, {
    mayBegin: () => true,
    work: (chunk) =>
      deliverChunks(dependencies, [{ ...delivery, chunk, isFirstAttempt }], { areWatching: true }),
    conclude(_chunk, [userIds = []]) {
      for (const userId of userIds) served.add(userId);
      return Promise.resolve();
    },
  });
  return served;
}

export interface ChunkDelivery extends Delivery {
  readonly chunk: readonly AudienceMember[];
  readonly isFirstAttempt: boolean;
}

/**
 * Delivers one chunk each of different actions. Returns the readers served, without skipped ones, for each chunk.
 *
 * @param areWatching all of them were watching a moment ago.
 * @param toLists notifies watchers of slices and threads by the same command.
 */
export async function deliverChunks(
  dependencies: PassContext,
  deliveries: readonly ChunkDelivery[],
  {
    areWatching = false,
    toLists = [],
  }: { readonly areWatching?: boolean; readonly toLists?: readonly Announcement[] } = {},
): Promise<readonly (readonly UserId[])[]> {
  const everybody = [...new Set(deliveries.flatMap(({ chunk }) => chunk.map(({ userId }) => userId)))];
  if (everybody.length === 0) {
    await announce(dependencies, toLists, { asksWho: false });
    return deliveries.map(() => []);
  }
  const skipped = await dependencies.skipDormant(everybody);
  const chunks = await Promise.all(deliveries.map((delivery) => toWrite(dependencies, delivery, skipped)));
  const outcomes = await dependencies.feedStore.deliver(chunks);
  const quiet = await Promise.all(
    deliveries.map((delivery) =>
      quietFor(
        dependencies,
        delivery,
        delivery.chunk.map(({ userId }) => userId),
      ),
    ),
  );
  const announcements = chunks.flatMap(({ actionId, readers }, index) => {
    const [delivery, outcome, isQuiet = null] = [deliveries[index], outcomes[index], quiet[index]];
    if (delivery === undefined || outcome === undefined) return [];
    const notified =
      isQuiet === null
        ? readers
        : readers.filter(
            ({ userId }) =>
              !isQuiet(userId) || outcome.added.includes(userId) || outcome.raised.includes(userId),
          );
    return announcementsOf(actionId, notified, outcome, notifiesAll(delivery.claim));
  });
  await traced('announce', {}, () =>
    announce(dependencies, [...announcements, ...toLists], {
      asksWho: !areWatching && announcements.length > FEW,
    }),
  );
  await raiseFloors(
    dependencies,
    outcomes.flatMap(({ added }) => added),
    dependencies.random,
  );
  return chunks.map(({ readers }) => readers.map(({ userId }) => userId));
}

async function toWrite(
  dependencies: PassContext,
  { claim, action, interactions, chunk, isFirstAttempt }: ChunkDelivery,
  skipped: ReadonlySet<UserId>,
): Promise<DeliveryChunk> {
  const awake = skipped.size === 0 ? chunk : chunk.filter(({ userId }) => !skipped.has(userId));
  const userIds = awake.map(({ userId }) => userId);
  const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
  const readers = awake.map(({ userId, reasons }) => ({ userId, relevancy: relevancyOf(userId), reasons }));
  const isRaise = notifiesAll(claim) && interactions.length > 0;
  return { actionId: action.id, readers, isFirstAttempt, isRaise };
}

/** The interactions since the last pass; empty if they are not known. */
export function recentOf(
  { lifts }: Pick<Claim, 'lifts'>,
  interactions: readonly InteractionGroup[],
): readonly InteractionGroup[] {
  if (lifts === null) return [];
  return interactions.filter(({ kind, latest }) => latest >= (lifts[kind] ?? Infinity));
}

/** For whom nothing has happened: between them and all who have interacted since the last pass there was a block. `null`: nobody. */
async function quietFor(
  context: PassContext,
  { claim, interactions }: Pick<Delivery, 'claim' | 'interactions'>,
  userIds: readonly UserId[],
): Promise<((userId: UserId) => boolean) | null> {
  const since = recentOf(claim, interactions);
  if (since.length === 0 || since.some(({ notFor }) => notFor === undefined)) return null;
  const recent = (await asCounting(context, since, userIds))(since);
  return (userId) => recent.every((interaction) => isNotFor(interaction, userId));
}

/**
 * Whether a pass notifies all watchers, also of unchanged entries. Existing entries may come from a pass that was
 * interrupted before it announced them. This concerns more than the chunk after the checkpoint: if the action has changed
 * since, this pass started over, and the progress of the other one is unknown. Also, a changed action has new counters
 * wherever it is.
 */
function notifiesAll({ version, wasCutOff }: Claim): boolean {
  return wasCutOff || version > 1;
}

function announcementsOf(
  actionId: string,
  readers: readonly ReaderDelivery[],
  outcome: DeliveryOutcome,
  isForAll: boolean,
): Announcement[] {
  const added = new Set(outcome.added);
  const raised = new Set(outcome.raised);
  const events = new Map<string, EntryEvent>();
  const announcements: Announcement[] = [];
  let event: EntryEvent | undefined;
  for (const { userId, relevancy, reasons } of readers) {
    const isAdded = added.has(userId);
    if (!isForAll && !isAdded && !raised.has(userId)) continue;
    const kind: EntryEvent['kind'] = isAdded ? 'added' : 'updated';
    // Most readers get the same notification, and many have the very same values.
    if (event?.kind !== kind || event.relevancy !== relevancy || event.reasons !== reasons) {
      const name = `${kind} ${String(relevancy.getTime())} ${reasons.join()}`;
      const shared: EntryEvent = events.get(name) ?? { kind, actionId, relevancy, reasons };
      events.set(name, shared);
      event = shared;
    }
    announcements.push({ userId, event });
  }
  return announcements;
}

/**
 * Pulled actions are not written to feeds, so watchers need a notification. Costs one presence list and a query per 500.
 * @throws errors of the database: the pass is repeated, since nobody else notifies them
 */
async function announcePulled(
  dependencies: PassContext,
  action: Action,
  change: {
    readonly claim: Claim;
    readonly interactions: readonly InteractionGroup[];
  },
): Promise<void> {
  if (action.pullRefIds.length === 0) return;
  const { liveLog, onLiveLogError } = dependencies;
  try {
    for await (const watched of liveLog.allWatched())
      for (let from = 0; from < watched.length; from += CHUNK) {
        const some = watched.slice(from, from + CHUNK);
        const announcements = await announcementsFor(dependencies, action, change, some);
        await announce(dependencies, announcements, { asksWho: false });
      }
  } catch (error) {
    surviveLiveLog(error, onLiveLogError);
  }
}

async function announcementsFor(
  dependencies: PassContext,
  action: Action,
  { claim, interactions }: Parameters<typeof announcePulled>[2],
  watched: readonly UserId[],
): Promise<Announcement[]> {
  const { version, former } = claim;
  const isQuiet = await quietFor(dependencies, { claim, interactions }, watched);
  const audience = await audienceAmong(dependencies, action, watched);
  const concerned = audience.filter(
    ({ userId, reasons }) => reasons.includes('PULL') && isQuiet?.(userId) !== true,
  );
  if (concerned.length === 0) return [];
  const userIds = concerned.map(({ userId }) => userId);
  const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
  const had = await formerlyAmong(dependencies, { action, former }, userIds);
  return concerned.map(({ userId, reasons }) => {
    const isNew = version === 1 || (former.length > 0 && !had.has(userId));
    const kind = isNew ? ('added' as const) : ('updated' as const);
    return { userId, event: { kind, actionId: action.id, relevancy: relevancyOf(userId), reasons } };
  });
}
