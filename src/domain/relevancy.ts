import type { Action, UserId } from './action.ts';
import { departmentKey, userKey, concernedSince, concernedUntil, type ConcerningAction } from './audience.ts';
import { blockTag, EVERYBODY } from './block.ts';
import { anySpanBringsPassedOn, type TypedAction } from './follow-span.ts';
import type { Follow } from './viewer.ts';

/** Tolerated lead of an application's clock over the server's. */
export const MAX_FUTURE_MS = 5 * 60_000;

/** How much later than it happened something may be recorded and still be news. What is older is history, such as an import. */
export const MAX_LATE_MS = 86_400_000;

/** Since when others can see what happened at a time and was recorded then. History stands where it happened. */
export function shownSince(happened: Date, recorded: Date): Date {
  return happened.getTime() < recorded.getTime() - MAX_LATE_MS ? happened : recorded;
}

export const INTERACTION_KINDS = ['COMMENT', 'LIKE', 'RESHARE', 'REACTION'] as const;
export type InteractionKind = (typeof INTERACTION_KINDS)[number];

/** The time of the earliest interaction of some kinds. */
export type Lifts = Readonly<Partial<Record<InteractionKind, Date>>>;

/** Per kind: share of the elapsed time that counts as distance for readers not concerned. 1: no boost. 0: full boost. */
export type RelevancyWeights = Readonly<Record<InteractionKind, number>>;

export const DEFAULT_WEIGHTS: RelevancyWeights = { COMMENT: 0.9, RESHARE: 0.9, LIKE: 1, REACTION: 1 };

/** Interactions that are equal for every reader's relevancy, represented by the latest of them. */
export interface InteractionGroup {
  readonly kind: InteractionKind;
  /** `null`: several members, whose identity does not matter. Never null for a reshare that followers receive. */
  readonly actorId: UserId | null;
  /** Departments of the interacting member and of the action's actor at the time. */
  readonly departmentIds: readonly string[];
  readonly latest: Date;
  /** For a reshare that followers receive: its server time, in milliseconds. */
  readonly passedOn?: Date;
  /** The members whose feeds it does not change, as `withoutEffectFor` says. */
  readonly notFor?: readonly string[];
}

/** Whether an interaction changes nothing for a reader: there was a block between the two. */
export function isNotFor({ notFor }: Pick<InteractionGroup, 'notFor'>, userId: UserId): boolean {
  return notFor !== undefined && (notFor.includes(EVERYBODY) || notFor.includes(blockTag(userId)));
}

/** Whether it is asked for each reader if it changes something for them: between its member and very many there was a block. */
export function isAskedAbout({ notFor }: Pick<InteractionGroup, 'notFor'>): boolean {
  return notFor?.includes(EVERYBODY) === true;
}

/** Members with a reshare, visible or not: the follows of these members must be loaded. */
export function passersOf(interactions: readonly InteractionGroup[]): UserId[] {
  return interactions.flatMap(({ actorId, passedOn }) =>
    passedOn === undefined || actorId === null ? [] : [actorId],
  );
}

export interface RelevancyReader {
  readonly userId: UserId;
  readonly departmentId: string | null;
  readonly supervisorId: UserId | null;
  /** The reader's follows of the resharers and, as assigned, of the action's refs. Extra follows do no harm. */
  readonly follows?: readonly Follow[];
}

/** A reader whom nothing concerns. */
export const NOT_CONCERNED: RelevancyReader = { userId: '', departmentId: null, supervisorId: null };

export type RelevancyAction = PlacedAction & Pick<Action, 'refIds'> & TypedAction & ConcerningAction;

type PlacedAction = Pick<Action, 'conducted' | 'recorded' | 'shownAt'>;

/**
 * Capped at the time of recording: `conducted` may be minutes ahead, a relevancy may not. What was hidden stands where it was shown:
 * readers may have marked as read all that they saw meanwhile.
 */
export function baseRelevancy({ conducted, recorded, shownAt }: PlacedAction): Date {
  const published = conducted.getTime() <= recorded.getTime() ? conducted : recorded;
  return shownAt === undefined || shownAt.getTime() <= published.getTime() ? published : shownAt;
}

/**
 * `distance(reader, interaction, action)` of the definition, in milliseconds. Zero for concerned readers: mentioned or
 * recipients at the time; assigned to one of the refs; in the department of the action or of the interacting member; supervisors of
 * that member; followers of a resharer at the time. For all others: a share of the time between action and interaction.
 */
export function distance(
  reader: RelevancyReader,
  interaction: InteractionGroup,
  action: RelevancyAction,
  weights: RelevancyWeights,
): number {
  if (isPassedOnTo(reader, interaction, action) || isConcerned(reader, interaction, action)) return 0;
  const elapsed = interaction.latest.getTime() - baseRelevancy(action).getTime();
  return Math.max(0, elapsed) * weights[interaction.kind];
}

/** Whether the reader followed the resharer at the time of the reshare. */
function isPassedOnTo(
  { follows = [] }: RelevancyReader,
  { actorId, passedOn }: InteractionGroup,
  action: TypedAction,
): boolean {
  return (
    passedOn !== undefined &&
    follows.some(({ refId, spans }) => refId === actorId && anySpanBringsPassedOn(spans, action, passedOn))
  );
}

function isAssigned({ follows = [] }: RelevancyReader, { refIds }: RelevancyAction): boolean {
  return follows.some(
    (follow) => follow.active && follow.isAssigned === true && refIds.includes(follow.refId),
  );
}

function isConcerned(
  reader: RelevancyReader,
  interaction: InteractionGroup,
  action: RelevancyAction,
): boolean {
  const since = concernedSince(action);
  const until = concernedUntil(action);
  const time = interaction.latest.getTime();
  const isNamed = (key: string): boolean =>
    (since.get(key) ?? Infinity) <= time || (until.get(key) ?? -Infinity) >= time;
  return (
    isNamed(userKey(reader.userId)) ||
    isAssigned(reader, action) ||
    (reader.supervisorId !== null && reader.supervisorId === interaction.actorId) ||
    (reader.departmentId !== null &&
      (interaction.departmentIds.includes(reader.departmentId) ||
        isNamed(departmentKey(reader.departmentId))))
  );
}

/** The relevancy one interaction gives an action for one reader. */
export interface Boost {
  readonly kind: InteractionKind | 'RESHARED_BY_FOLLOWED';
  readonly at: Date;
  readonly to: Date;
}

/** The boosts of all interactions for the reader that exceed the relevancy without them. */
export function boostsOf(
  reader: RelevancyReader,
  action: RelevancyAction,
  interactions: readonly InteractionGroup[],
  weights: RelevancyWeights,
): Boost[] {
  const base = baseRelevancy(action).getTime();
  return interactions.flatMap((interaction) => {
    if (isNotFor(interaction, reader.userId)) return [];
    const to = Math.floor(interaction.latest.getTime() - distance(reader, interaction, action, weights));
    const kind = isPassedOnTo(reader, interaction, action) ? 'RESHARED_BY_FOLLOWED' : interaction.kind;
    return to > base ? [{ kind, at: interaction.latest, to: new Date(to) }] : [];
  });
}

/**
 * Relevancy of an action for one reader: the maximum of its base and, for each interaction, the interaction's time minus
 * its distance. Never in the future, since interactions are not. Whole milliseconds.
 */
export function relevancyOf(
  reader: RelevancyReader,
  action: RelevancyAction,
  interactions: readonly InteractionGroup[],
  weights: RelevancyWeights,
): Date {
  let relevancy = new Date(Math.max(baseRelevancy(action).getTime(), keptBy(reader, concernedUntil(action))));
  for (const { to } of boostsOf(reader, action, interactions, weights))
    if (to.getTime() > relevancy.getTime()) relevancy = to;
  return relevancy;
}

/**
 * The relevancy that a reader keeps whom the action concerned before an edit. Known even where the interaction that gave it is represented
 * by a later one.
 */
function keptBy({ userId, departmentId }: RelevancyReader, until: ReturnType<typeof concernedUntil>): number {
  const ofUser = until.get(userKey(userId)) ?? 0;
  return departmentId === null ? ofUser : Math.max(ofUser, until.get(departmentKey(departmentId)) ?? 0);
}

/** Members with one of these departments or supervisors may be concerned; for others both fields make no difference. */
export interface ConcernedGroups {
  readonly departmentIds: readonly string[];
  readonly supervisorIds: readonly UserId[];
}

export function concernedGroups(
  action: ConcerningAction,
  interactions: readonly Pick<InteractionGroup, 'actorId' | 'departmentIds'>[],
): ConcernedGroups {
  const prefix = departmentKey('');
  const named = [...concernedSince(action).keys(), ...concernedUntil(action).keys()].filter((key) =>
    key.startsWith(prefix),
  );
  const departmentIds = new Set([
    ...named.map((key) => key.slice(prefix.length)),
    ...interactions.flatMap((interaction) => interaction.departmentIds),
  ]);
  const supervisorIds = new Set(interactions.flatMap(({ actorId }) => actorId ?? []));
  return { departmentIds: [...departmentIds], supervisorIds: [...supervisorIds] };
}

/** `relevancyOf` for many readers of one action; examines each interaction group once, and again for whom some do not count. */
export function relevancyFor(
  action: RelevancyAction,
  interactions: readonly InteractionGroup[],
  weights: RelevancyWeights,
): (reader: RelevancyReader) => Date {
  const limited = interactions.filter(({ notFor }) => notFor !== undefined);
  if (limited.length === 0) return relevancyOfAll(action, interactions, weights);
  const isForAll = ({ notFor }: InteractionGroup): boolean => notFor?.includes(EVERYBODY) !== true;
  const forOthers = relevancyOfAll(action, interactions.filter(isForAll), weights);
  const inQuestion = new Set(limited.filter(isForAll).flatMap(({ notFor = [] }) => notFor));
  return (reader) => {
    if (!inQuestion.has(blockTag(reader.userId))) return forOthers(reader);
    const counted = interactions.filter((interaction) => !isNotFor(interaction, reader.userId));
    return relevancyOfAll(action, counted, weights)(reader);
  };
}

function relevancyOfAll(
  action: RelevancyAction,
  interactions: readonly InteractionGroup[],
  weights: RelevancyWeights,
): (reader: RelevancyReader) => Date {
  const byDepartment = new Map<string, number>();
  const byActor = new Map<UserId, number>();
  const byPasser = new Map<UserId, InteractionGroup>();
  const forOthers = relevancyOf(
    NOT_CONCERNED,
    { ...action, concerned: [], formerlyConcerned: [] },
    interactions,
    weights,
  ).getTime();
  let latest = forOthers;
  for (const interaction of interactions) {
    const { departmentIds, actorId, latest: at, passedOn } = interaction;
    const time = at.getTime();
    if (passedOn !== undefined && actorId !== null) byPasser.set(actorId, interaction);
    latest = Math.max(latest, time);
    if (actorId !== null) byActor.set(actorId, Math.max(byActor.get(actorId) ?? 0, time));
    for (const id of departmentIds) byDepartment.set(id, Math.max(byDepartment.get(id) ?? 0, time));
  }
  const since = concernedSince(action);
  const until = concernedUntil(action);
  const isNamed = (key: string): boolean => (since.get(key) ?? Infinity) <= latest;
  const byFollowed = (reader: RelevancyReader): number => {
    if (byPasser.size === 0) return 0;
    const times = (reader.follows ?? []).map((follow) => {
      const interaction = byPasser.get(follow.refId);
      return interaction !== undefined && isPassedOnTo({ ...reader, follows: [follow] }, interaction, action)
        ? interaction.latest.getTime()
        : 0;
    });
    return Math.max(0, ...times);
  };
  return (reader) => {
    const { userId, departmentId, supervisorId } = reader;
    const kept = keptBy(reader, until);
    if (isAssigned(reader, action)) return new Date(Math.max(latest, kept));
    if (isNamed(userKey(userId)) || (departmentId !== null && isNamed(departmentKey(departmentId))))
      return new Date(Math.max(latest, kept));
    const forDepartment = departmentId === null ? 0 : (byDepartment.get(departmentId) ?? 0);
    const forSupervisor = supervisorId === null ? 0 : (byActor.get(supervisorId) ?? 0);
    return new Date(Math.max(forOthers, forDepartment, forSupervisor, byFollowed(reader), kept));
  };
}
