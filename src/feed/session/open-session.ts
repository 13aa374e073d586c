import type DataLoader from 'dataloader';
import type { Action, ActionId } from '../../domain/action.ts';
import type { Member } from '../../domain/member.ts';
import {
  isAffectedByBlocks,
  moderates,
  NOTHING_RETURNED,
  type Follow,
  type Identity,
  type ReaderProfile,
} from '../../domain/viewer.ts';
import { NO_BLOCKS } from '../../domain/block.ts';
import type { KnownReader } from '../feed-store.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';
import { Reading } from '../../lib/reading.ts';
import type { DirectoryAsOf } from '../../storage/stamps/directory-stamps.ts';
import { ACTION, type Load, type LoadedFrom, seesFanOut } from './load.ts';
import type { ReaderMarks } from '../store/feeds.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { ReaderSession } from './reader-session.ts';
import { batchesOf } from './batches-of.ts';
import { MEMBER } from '../loads/names.ts';

/** Maximum ids of one batch; more are split. */
export const MAX_BATCH = 500;

/** @param reading that of the operation. Default: one of its own, which nothing ends. */
export function openSession(core: LoadedFrom, identity: Identity, reading = new Reading()): ReaderSession {
  return new RequestSession(core, identity, reading);
}

class RequestSession implements ReaderSession {
  readonly identity: Identity;
  readonly reading: Reading;
  readonly #core: LoadedFrom;
  readonly #loaders = new Map<Load<unknown>, DataLoader<string, unknown, string>>();
  #profile: Promise<ReaderProfile> | undefined;
  #directoryStamp: number | null = null;
  #directory = (): Promise<DirectoryAsOf | null> => NOT_KNOWN;

  constructor(core: LoadedFrom, identity: Identity, reading: Reading) {
    this.#core = core;
    this.identity = identity;
    this.reading = reading;
  }

  load<V>(what: Load<V>, id: string): Promise<V | null> {
    return this.#loaderOf(what).load(id);
  }

  loadMany<V>(what: Load<V>, ids: readonly string[]): Promise<(V | null)[]> {
    const loader = this.#loaderOf(what);
    return Promise.all(ids.map((id) => loader.load(id)));
  }

  loadAt(id: ActionId): Promise<Action | null> {
    return this.load(ACTION, id);
  }

  profile(): Promise<ReaderProfile> {
    return (this.#profile ??= this.#loadProfile(null));
  }

  know(known: KnownReader): void {
    if (this.#profile === undefined) {
      this.#profile = this.#loadProfile(known);
      // Awaited by the callers that need it.
      this.#profile.catch(() => undefined);
    }
    this.#directoryStamp = known.directoryStamp;
    this.#directory = once(() => this.#core.nameCache.asOf(known.directoryStamp));
    for (const [what, loader] of this.#loaders) if (what.hasNames) loader.clearAll();
  }

  get directoryStamp(): number | null {
    return this.#directoryStamp;
  }

  directory(): Promise<DirectoryAsOf | null> {
    return this.#directory();
  }

  cached(id: ActionId, rev: number): Action | null {
    return seesFanOut(this.identity) ? null : this.#core.actionCache.at(id, rev);
  }

  #loaderOf<V>(what: Load<V>): DataLoader<string, V | null, string> {
    const known = this.#loaders.get(what);
    if (known !== undefined) return known as DataLoader<string, V | null, string>;
    const { userId } = this.identity;
    const loader = batchesOf<string, V | null>(
      async (ids) => {
        const wanted = ids.map((id) => ({ userId, id }));
        const found = await this.reading.run(() => what.find(this.#core, wanted, this));
        return (id) => found.get(what.nameOf({ userId, id })) ?? null;
      },
      { most: MAX_BATCH, keeps: true },
    );
    this.#loaders.set(what, loader);
    return loader;
  }

  async #loadProfile(known: KnownReader | null): Promise<ReaderProfile> {
    const { members, feeds, follows } = this.#core;
    const { userId } = this.identity;
    const profile = await readProfile(this.#core, this.identity, {
      asOf: known?.asOf ?? clock.now(),
      member: known === null ? members.find(userId) : known.member,
      marks: known?.marks ?? feeds.marks(userId),
      follows: known?.pulledFollows ?? ((refIds) => follows.find(userId, refIds)),
    });
    // If a directory is cached, it was read at another time: let it provide the member.
    if (this.#directoryStamp === null) this.#loaderOf(MEMBER).prime(userId, profile.member);
    return profile;
  }
}

const NOT_KNOWN: Promise<null> = Promise.resolve(null);

interface ProfileParts {
  readonly asOf: Date;
  readonly member: Promise<Member | null> | Member | null;
  readonly marks: Promise<ReaderMarks> | ReaderMarks;
  /** The follows of pulled refs, or a function that finds those of the reader. */
  readonly follows: readonly Follow[] | ((refIds: readonly string[]) => Promise<readonly Follow[]>);
}

/** A reader's profile; no query for follows if no refs are pulled, and none for ends of marks and blocks of readers without. */
export async function readProfile(
  { pulledRefs, markEnds, blocks }: Pick<Repositories, 'pulledRefs' | 'markEnds' | 'blocks'>,
  identity: Identity,
  { asOf, ...parts }: ProfileParts,
): Promise<ReaderProfile> {
  const { userId } = identity;
  const findFollows = async (): Promise<readonly Follow[]> => {
    if (typeof parts.follows !== 'function') return parts.follows;
    const refIds = await pulledRefs.known();
    return refIds.size === 0 ? NO_FOLLOWS : parts.follows([...refIds]);
  };
  const [member, { hasBlocks, blocksRev, ...marks }, follows] = await Promise.all([
    parts.member,
    parts.marks,
    findFollows(),
  ]);
  return {
    ...marks,
    ...{ userId, isAdmin: moderates(identity), member, asOf },
    blocks: hasBlocks && isAffectedByBlocks(identity) ? await blocks.of(userId, blocksRev) : NO_BLOCKS,
    pulledFollows: follows.length === 0 ? NO_FOLLOWS : follows.filter(({ spans }) => spans.length > 0),
    returned: once(() => (marks.hasEnds ? markEnds.past(userId, asOf) : Promise.resolve(NOTHING_RETURNED))),
  };
}

const NO_FOLLOWS: readonly Follow[] = [];
