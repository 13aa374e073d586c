import { Confirmed } from '../../storage/confirmed.ts';
import type { Context } from '../context.ts';
import type { Action, ActionId, RefId } from '../../domain/action.ts';
import { blockTag } from '../../domain/block.ts';
import {
  baseRelevancy,
  isAskedAbout,
  passersOf,
  relevancyFor,
  type InteractionGroup,
  type RelevancyReader,
} from '../../domain/relevancy.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { gathered } from '../../lib/gathered.ts';
import { mayBeOfOne } from '../../storage/database/errors.ts';

/** Current relevancy of actions for a reader. */
export interface RelevancyNow {
  /** Refs that the reader's follows must be loaded for, because they may boost the action. */
  boosterRefs(action: Action, reader: ReaderProfile): readonly RefId[];
  of(action: Action, reader: RelevancyReader & Partial<Pick<ReaderProfile, 'blocks'>>): Date;
}

/** Prepares to compute relevancies of these actions, with a read that begins after the call. */
export type SharedBoosts = (actions: readonly Action[]) => Promise<RelevancyNow>;

interface VersionedAction {
  readonly actionId: ActionId;
  readonly version: number;
}

/** Actions per query. */
const MAX_BATCH = 100;
const LOADS_AT_ONCE = 2;
/** Upper bounds on actions whose interactions are cached, and on interaction groups cached per action. */
const MOST_REMEMBERED = 100;
const MOST_GROUPS = 1_000;

/**
 * Relevancies for watchers, who typically request the same action at the same time. Interactions are cached by the action's
 * version, which each interaction increments. No query for actions without interactions.
 */
export function createSharedBoosts({ interactions, weights }: Context): SharedBoosts {
  const remembered = new Confirmed<readonly InteractionGroup[], number>(MOST_REMEMBERED);
  const summarize = gathered(
    (keys: readonly VersionedAction[]) => interactions.summaries(keys.map(({ actionId }) => actionId)),
    { nameOf, mayBeOfOne, most: MAX_BATCH, atOnce: LOADS_AT_ONCE },
  );

  async function groupsOf({ id, isBumped, fanOut }: Action): Promise<readonly InteractionGroup[]> {
    // An action that was never bumped has no interactions.
    if (!isBumped) return [];
    const { version } = fanOut;
    const known = remembered.find(id, version);
    if (known !== null) return known;
    const groups = (await summarize({ actionId: id, version })).get(id)?.groups ?? [];
    if (groups.length <= MOST_GROUPS) remembered.keep(id, version, groups);
    return groups;
  }

  return async (actions) => {
    const lively = await Promise.all(
      actions.map(async (action) => [action.id, await groupsOf(action)] as const),
    );
    const groups = new Map(lively);
    const groupsFor = ({ id }: Action): readonly InteractionGroup[] => groups.get(id) ?? [];
    return {
      boosterRefs(action, { hasAssigned }) {
        const known = groupsFor(action);
        const refIds = hasAssigned && known.length > 0 ? action.refIds : [];
        return [...passersOf(known), ...refIds];
      },
      of(action, reader) {
        const known = groupsFor(action);
        if (known.length === 0) return baseRelevancy(action);
        return relevancyFor(action, asCountingFor(known, reader), weights)(reader);
      },
    };
  };
}

/** The groups as they count for a member with very many blocks, by those of the reader as far as they are known. */
function asCountingFor(
  groups: readonly InteractionGroup[],
  { userId, blocks }: RelevancyReader & Partial<Pick<ReaderProfile, 'blocks'>>,
): readonly InteractionGroup[] {
  if (!groups.some(isAskedAbout)) return groups;
  return groups.map((group) => {
    const { actorId } = group;
    if (!isAskedAbout(group) || actorId === null || blocks?.knows(actorId) !== true) return group;
    return { ...group, notFor: blocks.has(actorId) ? [blockTag(userId)] : [] };
  });
}

function nameOf({ actionId, version }: VersionedAction): string {
  return `${actionId}:${String(version)}`;
}
