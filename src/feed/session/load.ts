import type { UserId } from '../../domain/action.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { DirectoryAsOf } from '../../storage/stamps/directory-stamps.ts';
import type { ReaderAction } from '../../storage/documents/reader-action-id.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { Context } from '../context.ts';
import { areBeside } from '../../domain/stored-id.ts';

/** An action; those that do not exist for the reader are missing. */
export const ACTION = load({
  async batch({ actions, actionCache }, ids, request) {
    const identity = request?.identity ?? null;
    if (identity === null) return actions.findByIds(ids);
    const found = await (seesFanOut(identity) ? actions : actionCache).findByIds(ids);
    return found.filter(({ actorId }) => areBeside(actorId, identity.userId));
  },
  key: ({ id }) => id,
});

/** Roles that see the progress of deliveries, which is never cached. */
export function seesFanOut({ roles }: Identity): boolean {
  return roles.has('admin') || roles.has('service');
}

/** What loads read. */
export type LoadedFrom = Repositories & Pick<Context, 'offers'>;

/**
 * Data that sessions load by id, declared beside its feature. Ids that are wanted in one turn of the event loop become one
 * batch: those of one request, or those of all live events of the process.
 */
export interface Load<out V> {
  /** Equal names share one result. */
  readonly nameOf: (wanted: Wanted) => string;
  /** Finds values, by name. @param request absent: nothing that is cached may be used. */
  readonly find: (
    core: LoadedFrom,
    wanted: readonly Wanted[],
    request?: RequestReader,
  ) => Promise<ReadonlyMap<string, V>>;
  /** Has names, which are read again once the stamp of the directory is known: they may be older. */
  readonly hasNames: boolean;
}

/** An id, and the reader who needs it. */
export interface Wanted {
  readonly userId: UserId;
  readonly id: string;
}

/** A reader who may use what the process has cached. */
export interface RequestReader {
  /** `null`: live events of any readers. */
  readonly identity: Identity | null;
  /** The directory as of a stamp that was read during the request, or after the event arrived; `null`: not available. */
  directory(): Promise<DirectoryAsOf | null>;
}

/** Declares a load of data that are the same for all readers. */
export function load<V>({
  batch,
  key,
  hasNames = false,
}: {
  /** Results in any order; missing ones are left out. */
  readonly batch: (
    core: LoadedFrom,
    ids: readonly string[],
    request?: RequestReader,
  ) => Promise<readonly V[]>;
  /** The id that a result belongs to. */
  readonly key: (found: V) => string;
  readonly hasNames?: boolean;
}): Load<V> {
  return {
    nameOf: ({ id }) => id,
    async find(core, wanted, request) {
      const ids = wanted.map(({ id }) => id);
      return new Map((await batch(core, ids, request)).map((found) => [key(found), found]));
    },
    hasNames,
  };
}

/** Declares a load of the reader's own data. */
export function ownLoad<V>({
  batch,
  key,
}: {
  /** Results in any order; missing ones are left out. */
  readonly batch: (core: LoadedFrom, wanted: readonly Wanted[]) => Promise<readonly V[]>;
  /** The reader and the id that a result belongs to. */
  readonly key: (found: V) => readonly [userId: UserId, id: string];
}): Load<V> {
  return {
    nameOf: ({ userId, id }) => JSON.stringify([userId, id]),
    async find(core, wanted) {
      return new Map((await batch(core, wanted)).map((found) => [JSON.stringify(key(found)), found]));
    },
    hasNames: false,
  };
}

/** Declares a load of what the reader said about an action. */
export function readerActionLoad<V extends ReaderAction>(
  batch: (core: LoadedFrom, pairs: readonly ReaderAction[]) => Promise<readonly V[]>,
): Load<V> {
  const pairOf = ({ userId, id }: Wanted): ReaderAction => ({ userId, actionId: id });
  return ownLoad({
    batch: (core, wanted) => batch(core, wanted.map(pairOf)),
    key: ({ userId, actionId }) => [userId, actionId],
  });
}
