import type { ActionId, RefId, UserId } from '../../domain/action.ts';
import type { ItemMark } from '../../domain/newsfeed-item.ts';
import type { Follow } from '../../domain/viewer.ts';
import { noting } from '../../lib/noting.ts';
import type { SourceAction } from '../../storage/actions/source-actions.ts';
import type { Context } from '../context.ts';
import type { FoundBeside } from '../feed-store.ts';
import type { Beside } from '../store/known-answers.ts';

/** The same values of so many ids, in their order. */
type Each<T> = (ids: readonly string[]) => Promise<readonly (T | null)[]>;

const SETTINGS = ['weights', 'dormantAfterMs'] as const satisfies readonly (keyof Context)[];

/**
 * What a read needs of its reader beside the page of the feed. What the first command has of it is taken from there; all else is
 * read, which is noted. All that was needed is remembered, so that the first command of the next read has it.
 */
export class ReadsBeside {
  readonly #refIds = new Set<RefId>();
  #hasMarks = false;
  #unread = 0;
  readonly #found: () => Promise<FoundBeside | null>;
  readonly #reads: () => void;

  /** @param found what the first command has @param reads told when something else is read */
  constructor(found: () => Promise<FoundBeside | null>, reads: () => void) {
    this.#found = found;
    this.#reads = reads;
  }

  /** `null`: nothing. */
  get needed(): Beside | null {
    const [hasMarks, unread] = [this.#hasMarks, this.#unread];
    if (!hasMarks && unread === 0 && this.#refIds.size === 0) return null;
    return { hasMarks, unread, refIds: new Set(this.#refIds) };
  }

  marks(ids: readonly ActionId[], read: Each<ItemMark>): Promise<readonly (ItemMark | null)[]> {
    this.#hasMarks = true;
    return this.#each(ids, ({ marks }) => marks, read);
  }

  follows(refIds: readonly RefId[], read: Each<Follow>): Promise<readonly (Follow | null)[]> {
    for (const id of refIds) this.#refIds.add(id);
    return this.#each(refIds, ({ follows }) => follows, read);
  }

  /** The newest actions that the reader has marked as unread, or those of them before one. */
  async newestUnread(
    { itemMarks }: Pick<Context, 'itemMarks'>,
    userId: UserId,
    before: ActionId | null,
    limit: number,
  ): Promise<readonly ActionId[]> {
    this.#unread += limit;
    const found = await this.#found();
    if (found !== null) {
      const { asked, unread } = found;
      const from = before === null ? 0 : unread.indexOf(before) + 1;
      const isKnown = from + limit <= asked.unread || unread.length < asked.unread;
      if (isKnown && (before === null || from > 0)) return unread.slice(from, from + limit);
    }
    this.#reads();
    return itemMarks.newestUnread(userId, before, limit);
  }

  /** A context in which entries are found. */
  readonly context = (of: Context): Context => {
    const { feedStore, follows } = of;
    const noted = <T extends object>(one: T, except: readonly (keyof T)[]): T =>
      noting(one, this.#reads, except);
    const served: Context = {
      ...of,
      feedStore: noted(
        {
          ...feedStore,
          find: async (userId, ids) => {
            const found = await this.#each(
              ids,
              ({ entries }) => entries,
              inOrder(
                (missing) => feedStore.find(userId, missing),
                ({ actionId }) => actionId,
              ),
            );
            return found.filter((entry) => entry !== null);
          },
        },
        ['find', 'isUncapped'],
      ),
      sourceActions: noted({ ...of.sourceActions, find: (ids) => this.#actions(of, ids) }, ['find']),
      follows: noted(
        {
          ...follows,
          find: async (userId, refIds) => {
            const found = await this.follows(
              refIds,
              inOrder(
                (missing) => follows.find(userId, missing),
                ({ refId }) => refId,
              ),
            );
            return found.filter((follow) => follow !== null);
          },
        },
        ['find'],
      ),
    };
    return noted(served, ['feedStore', 'sourceActions', 'follows', ...SETTINGS]);
  };

  /** Those of these actions that are neither hidden nor deleted. */
  async #actions({ actionCache }: Context, ids: readonly ActionId[]): Promise<readonly SourceAction[]> {
    const found = await this.#found();
    if (found !== null && ids.every((id) => found.entries.has(id))) {
      const actions = ids.flatMap((id) => {
        const rev = found.revisions.get(id);
        return rev === undefined ? [] : [actionCache.at(id, rev)];
      });
      const known = actions.filter((action) => action !== null);
      if (known.length === actions.length) return known.filter(isVisible);
    }
    this.#reads();
    // A single action is read as if nothing was cached.
    return (await actionCache.findByIds(ids)).filter(isVisible);
  }

  /** @param given what the first command has */
  async #each<T>(
    ids: readonly string[],
    given: (found: FoundBeside) => ReadonlyMap<string, T | null>,
    read: Each<T>,
  ): Promise<readonly (T | null)[]> {
    const found = await this.#found();
    const known = found === null ? NOTHING : given(found);
    const missing = ids.filter((id) => !known.has(id));
    if (missing.length === 0) return ids.map((id) => known.get(id) ?? null);
    this.#reads();
    const others = await read(missing);
    const values = new Map(missing.map((id, index) => [id, others[index] ?? null]));
    return ids.map((id) => values.get(id) ?? known.get(id) ?? null);
  }
}

const NOTHING: ReadonlyMap<string, null> = new Map<string, null>();

const isVisible = ({ isHidden, isDeleted }: SourceAction): boolean => !isHidden && !isDeleted;

/** Puts what is found in any order into that of the ids. */
function inOrder<T>(
  find: (ids: readonly string[]) => Promise<readonly T[]>,
  idOf: (found: T) => string,
): Each<T> {
  return async (ids) => {
    const found = new Map((await find(ids)).map((one) => [idOf(one), one]));
    return ids.map((id) => found.get(id) ?? null);
  };
}
