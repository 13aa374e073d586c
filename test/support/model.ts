import type { Scope } from '../../src/domain/action.ts';
import type { MuteKind } from '../../src/domain/mute.ts';
import type { DeliveryReason } from '../../src/domain/newsfeed-item.ts';
import type { InteractionKind } from '../../src/domain/relevancy.ts';
import type { Role } from '../../src/domain/viewer.ts';

// The definition of a feed, as plainly as it can be written down: arrays, loops, and times in milliseconds. It shares
// nothing with the server but the names of things.

export interface ModelMember {
  readonly userId: string;
  readonly teamId: string | null;
  readonly teamSince: number;
  readonly departmentId: string | null;
  readonly departmentSince: number;
  readonly supervisorId: string | null;
}

export interface ModelSpan {
  since: number;
  /** Of the actions recorded at `since`, this one and later ones; null: all of them. */
  firstActionId: string | null;
  until: number | null;
  /** What it brings; null: whatever there is. */
  readonly types: readonly string[] | null;
}

export interface ModelFollow {
  readonly followerId: string;
  readonly refId: string;
  isActive: boolean;
  isAssigned: boolean;
  spans: ModelSpan[];
  /** The follower's lists that it is in, by name. */
  lists: readonly string[];
  /** What the database calls it. */
  id: string;
  /** When it was begun first; null: never, or it was removed with its history. */
  openedAt: number | null;
  assignedAt: number | null;
}

export interface ModelInteraction {
  readonly id: string;
  readonly kind: InteractionKind;
  readonly reaction: string | null;
  readonly actorId: string;
  readonly at: number;
  /** Since when others can see it, or can again. */
  shownAt: number;
  /** Of a comment. */
  text: string | null;
  editedAt: number | null;
  /** The comment that it replies to. */
  readonly parentId: string | null;
  /** Members who could see the action then. */
  readonly mentions: readonly string[];
  /** Departments of who interacted and of the action's actor, then. */
  readonly departmentIds: readonly (string | null)[];
  /** The idempotency keys that have given it. */
  readonly keys: string[];
  state: 'VISIBLE' | 'REMOVED' | 'HIDDEN';
  /** It was hidden when it was removed. */
  wasHidden: boolean;
  /** When the server recorded a reshare of what was PUBLIC then; null: it passes nothing on. */
  passedOn: number | null;
  /** Between whom and the member there was a block then: it lifts nothing for them. */
  readonly notFor: readonly string[];
}

export interface ModelAction {
  readonly id: string;
  readonly actorId: string;
  readonly conducted: number;
  readonly recorded: number;
  scope: Scope;
  /** The actor's team or department when the scope was given, as it asks for. */
  groupId: string | null;
  mentions: readonly string[];
  recipients: readonly string[];
  /** Without the actor's. */
  refIds: readonly string[];
  /** In which turn the refs were given. */
  refsGiven: number;
  readonly type: string;
  /** Whom its descriptor says to notify. */
  asked: string | null;
  /** What its descriptor says in words. */
  text: string;
  tags: readonly string[];
  version: number;
  /** From then on it counts as deleted. Null: it stays. */
  expiresAt: number | null;
  /** Whom it named while there was a block between them and its actor: they are not notified of it. */
  readonly namedInVain: Set<string>;
  /** Everybody it names, and the department it is for; since when. */
  readonly concernedPeople: Map<string, number>;
  readonly concernedDepartments: Map<string, number>;
  /** Whom it named before an edit; the time of the latest interaction until then. */
  readonly formerPeople: Map<string, number>;
  readonly formerDepartments: Map<string, number>;
  readonly interactions: ModelInteraction[];
  isHidden: boolean;
  /** When it was shown again; null: it never was. */
  shownAt: number | null;
  isDeleted: boolean;
}

export interface ModelMute {
  readonly kind: MuteKind;
  readonly value: string;
  /** It may be made to end. */
  readonly hasEnd: boolean;
}

export interface ModelReader {
  readonly userId: string;
  readonly roles: readonly Role[];
  mutes: ModelMute[];
  /** An item is in one of them at most. */
  hiddenActionIds: string[];
  archivedActionIds: string[];
  /** Until when. */
  readonly snoozed: Map<string, number>;
  /** Where single items stood when they were marked as read. */
  readonly readAt: Map<string, number>;
  unreadActionIds: string[];
  bookmarks: { readonly actionId: string; readonly at: number }[];
  /** By name. */
  readonly lists: Map<string, ModelList>;
  lastRead: number | null;
  readonly notifications: ModelNotificationMarks;
}

/** A list of what a reader follows. */
export interface ModelList {
  readonly id: string;
  isExclusive: boolean;
}

/** What a reader has said of their notifications. */
export interface ModelNotificationMarks {
  seenAt: number | null;
  readAt: number | null;
  /** Where single ones stood when they were read. */
  readonly read: Map<string, number>;
  /** By kind and type, whether they are to be listed. */
  readonly preferences: Map<string, boolean>;
}

/** What a ref is called, and in which turn it got that name. */
export interface ModelName {
  readonly label: string;
  readonly given: number;
}

export interface Model {
  /** Rises with every name and every list of refs that is given. */
  turn: number;
  /** By ref id; those that were never described are missing. */
  readonly names: Map<string, ModelName>;
  members: ModelMember[];
  readonly follows: ModelFollow[];
  /** In the order they were recorded. */
  readonly actions: ModelAction[];
  /** Nobody is shown them yet. */
  readonly scheduled: ModelAction[];
  readonly readers: ModelReader[];
  /** Who blocks whom. */
  blocks: { readonly by: string; readonly who: string }[];
  /** What is pinned to a ref, the latest pin first. */
  readonly pins: Map<string, readonly string[]>;
}

export interface ModelItem {
  readonly action: ModelAction;
  readonly relevancy: number;
  readonly reasons: readonly DeliveryReason[];
  readonly isUnread: boolean;
}

/** Whether one of the two blocks the other, so that neither sees anything of the other. Admins see everything. */
export function isBlocked(
  { blocks }: Model,
  { userId, roles }: Pick<ModelReader, 'userId' | 'roles'>,
  otherId: string,
): boolean {
  if (roles.includes('admin')) return false;
  return blocks.some(
    ({ by, who }) => (by === userId && who === otherId) || (by === otherId && who === userId),
  );
}

function readerOf(model: Model, userId: string): Pick<ModelReader, 'userId' | 'roles'> {
  return model.readers.find((reader) => reader.userId === userId) ?? { userId, roles: [] };
}

function memberOf(model: Model, userId: string): ModelMember | undefined {
  return model.members.find((member) => member.userId === userId);
}

export function carries(action: ModelAction, refId: string): boolean {
  return action.actorId === refId || action.refIds.includes(refId);
}

export function isInSpan(span: ModelSpan, action: ModelAction): boolean {
  if (action.recorded < span.since) return false;
  if (action.recorded === span.since && span.firstActionId !== null && action.id < span.firstActionId)
    return false;
  return span.until === null || action.recorded < span.until;
}

export function takes({ types }: ModelSpan, action: ModelAction): boolean {
  return types === null || types.includes(action.type);
}

function isForFollowers(action: ModelAction): boolean {
  return action.scope === 'FOLLOWERS' || action.scope === 'PUBLIC';
}

/** Why the action is addressed to the reader. */
export function reasonsFor(model: Model, userId: string, action: ModelAction): DeliveryReason[] {
  const reasons: DeliveryReason[] = [];
  if (isBlocked(model, readerOf(model, userId), action.actorId)) return reasons;
  const member = memberOf(model, userId);
  if (action.mentions.includes(userId)) reasons.push('MENTION');
  if (action.recipients.includes(userId)) reasons.push('RECIPIENT');
  if (member !== undefined && action.scope === 'TEAM')
    if (member.teamId === action.groupId && action.recorded >= member.teamSince) reasons.push('TEAM');
  if (member !== undefined && action.scope === 'DEPARTMENT')
    if (member.departmentId === action.groupId && action.recorded >= member.departmentSince)
      reasons.push('DEPARTMENT');
  if (isForFollowers(action))
    for (const follow of model.follows)
      if (follow.followerId === userId && carries(action, follow.refId))
        for (const span of follow.spans)
          if (isInSpan(span, action) && takes(span, action) && !reasons.includes('FOLLOW'))
            reasons.push('FOLLOW');
  if (passedOnTo(model, userId, action).length > 0) reasons.push('RESHARE');
  return reasons;
}

/** Most reshares of an action that bring it to followers. */
const MOST_RESHARES = 100;

function isInTime({ since, until }: ModelSpan, time: number): boolean {
  return time >= since && (until === null || time < until);
}

/** The span by which what another member passed on at a time came to the member, who followed them. */
function spanAt(
  model: Model,
  followerId: string,
  action: ModelAction,
  { refId, time }: { readonly refId: string; readonly time: number },
): ModelSpan | undefined {
  return model.follows
    .filter((follow) => follow.followerId === followerId && follow.refId === refId)
    .flatMap(({ spans }) => spans)
    .find((span) => isInTime(span, time) && takes(span, action));
}

/** Whose reshares bring the action to the reader, the newest first. */
export function passedOnTo(model: Model, userId: string, action: ModelAction): string[] {
  return waysOfPassing(model, userId, action).map(({ via }) => via);
}

/** By which follows of members who passed it on the action comes to the reader, the newest first. */
export function waysOfPassing(model: Model, userId: string, action: ModelAction): ModelWay[] {
  const { scope, interactions } = action;
  if (scope !== 'PUBLIC') return [];
  const mutes = model.readers.find((reader) => reader.userId === userId)?.mutes ?? [];
  return interactions
    .flatMap(({ actorId, passedOn, state }) =>
      passedOn === null || state !== 'VISIBLE' ? [] : [{ actorId, passedOn }],
    )
    .sort((a, b) => b.passedOn - a.passedOn || (a.actorId < b.actorId ? 1 : -1))
    .slice(0, MOST_RESHARES)
    .flatMap(({ actorId, passedOn }) => {
      const span = spanAt(model, userId, action, { refId: actorId, time: passedOn });
      return span === undefined ? [] : [{ via: actorId, span }];
    })
    .filter(
      ({ via }) =>
        !isBlocked(model, readerOf(model, userId), via) &&
        !mutes.some(({ kind, value }) => (kind === 'MEMBER' || kind === 'REF') && value === via),
    );
}

/** A follow that brings an action, and the first of its spans that does. */
export interface ModelWay {
  readonly via: string;
  readonly span: ModelSpan;
}

/** By which of their follows the action is addressed to the reader. */
export function waysOfFollowing(model: Model, userId: string, action: ModelAction): ModelWay[] {
  if (!isForFollowers(action)) return [];
  return model.follows
    .filter(({ followerId, refId }) => followerId === userId && carries(action, refId))
    .flatMap(({ refId, spans }) => {
      const span = spans.find((one) => isInSpan(one, action) && takes(one, action));
      return span === undefined ? [] : [{ via: refId, span }];
    });
}

/** Whether the reader may see the action at all. What types a follow takes does not matter. */
export function maySee(model: Model, reader: ModelReader, action: ModelAction): boolean {
  const { userId } = reader;
  if (action.isDeleted) return false;
  if (reader.roles.includes('admin')) return true;
  if (action.isHidden || isBlocked(model, reader, action.actorId)) return false;
  if (action.actorId === userId || action.scope === 'PUBLIC') return true;
  if (action.mentions.includes(userId) || action.recipients.includes(userId)) return true;
  const member = memberOf(model, userId);
  if (action.scope === 'TEAM') return member?.teamId === action.groupId;
  if (action.scope === 'DEPARTMENT') return member?.departmentId === action.groupId;
  if (action.scope === 'RESTRICTED') return false;
  for (const follow of model.follows)
    if (follow.followerId === userId && carries(action, follow.refId)) {
      if (follow.isActive) return true;
      for (const span of follow.spans) if (isInSpan(span, action)) return true;
    }
  return false;
}

/** Hundredths of the time gone by that an interaction stays below its own time for those it does not concern. */
const HUNDREDTHS: Readonly<Record<InteractionKind, number>> = {
  COMMENT: 90,
  RESHARE: 90,
  LIKE: 100,
  REACTION: 100,
};

function concerns(model: Model, userId: string, action: ModelAction, interaction: ModelInteraction): boolean {
  const { concernedPeople, concernedDepartments, formerPeople, formerDepartments } = action;
  if ((concernedPeople.get(userId) ?? Infinity) <= interaction.at) return true;
  if ((formerPeople.get(userId) ?? -Infinity) >= interaction.at) return true;
  for (const follow of model.follows)
    if (follow.followerId === userId && follow.isActive && follow.isAssigned)
      if (carries(action, follow.refId)) return true;
  const member = memberOf(model, userId);
  if (member === undefined) return false;
  if (member.supervisorId === interaction.actorId) return true;
  if (member.departmentId === null) return false;
  if (interaction.departmentIds.includes(member.departmentId)) return true;
  if ((formerDepartments.get(member.departmentId) ?? -Infinity) >= interaction.at) return true;
  return (concernedDepartments.get(member.departmentId) ?? Infinity) <= interaction.at;
}

export interface ModelBoost {
  readonly by: ModelInteraction;
  /** The reader followed the member who passed it on. */
  readonly isPassedOn: boolean;
  readonly to: number;
}

/** Where an action stands that nobody has interacted with. */
export function baseOf({ conducted, recorded, shownAt }: ModelAction): number {
  return Math.max(Math.min(conducted, recorded), shownAt ?? -Infinity);
}

/** What each interaction lifts the action to for a reader, where that is above its base. */
export function boostsFor(model: Model, userId: string, action: ModelAction): ModelBoost[] {
  const base = baseOf(action);
  return action.interactions.flatMap((by) => {
    const { at, kind, actorId, passedOn } = by;
    if (by.notFor.includes(userId)) return [];
    const isPassedOn =
      passedOn !== null && spanAt(model, userId, action, { refId: actorId, time: passedOn }) !== undefined;
    const isWhole = isPassedOn || concerns(model, userId, action, by);
    // Whole numbers all the way: exact, and rounded down once.
    const to = isWhole ? at : Math.floor((at * 100 - (at - base) * HUNDREDTHS[kind]) / 100);
    return at > base && to > base ? [{ by, isPassedOn, to }] : [];
  });
}

export function relevancyFor(model: Model, userId: string, action: ModelAction): number {
  return Math.max(baseOf(action), ...boostsFor(model, userId, action).map(({ to }) => to));
}

/** Above everything read, and above where the item itself was read; or marked as unread. */
export function isUnreadAt(reader: ModelReader, actionId: string, relevancy: number): boolean {
  if (reader.unreadActionIds.includes(actionId)) return true;
  const readAt = reader.readAt.get(actionId);
  return (
    (reader.lastRead === null || relevancy > reader.lastRead) && (readAt === undefined || relevancy > readAt)
  );
}

/** Lower case, with a space between the words and one at each end. */
export function inWords(text: string): string {
  return ` ${text.toLowerCase().split(/\s+/).join(' ')} `;
}

/** Whether the reader wants to see nothing of the action. */
export function isMuted(reader: ModelReader, action: ModelAction): boolean {
  return reader.mutes.some(({ kind, value }) => {
    if (kind === 'MEMBER') return action.actorId === value;
    if (kind === 'REF') return carries(action, value);
    if (kind === 'TYPE') return action.type === value;
    return inWords(action.text).includes(inWords(value));
  });
}

/** The reader's feed, best first. */
export function feedFor(model: Model, reader: ModelReader): ModelItem[] {
  return allOfFeed(model, reader).filter((item) => !isApart(model, reader, item));
}

/** The same with what exclusive lists keep out of it. */
export function allOfFeed(model: Model, reader: ModelReader): ModelItem[] {
  return itemsFor(model, reader).filter(({ action }) => isInFeed(reader, action.id));
}

/** An exclusive list has it, and it does not name the reader. */
export function isApart(
  model: Model,
  reader: ModelReader,
  { action, reasons }: Pick<ModelItem, 'action' | 'reasons'>,
): boolean {
  if (reasons.length === 0 || reasons.includes('MENTION') || reasons.includes('RECIPIENT')) return false;
  return [...reader.lists].some(
    ([name, { isExclusive }]) => isExclusive && isInList(model, reader, action, name),
  );
}

/** Something in the list brings it, or its actor is in the list. */
export function isInList(model: Model, { userId }: ModelReader, action: ModelAction, name: string): boolean {
  const ways = [...waysOfFollowing(model, userId, action), ...waysOfPassing(model, userId, action)];
  return model.follows.some(
    ({ followerId, refId, lists }) =>
      followerId === userId &&
      lists.includes(name) &&
      (refId === action.actorId || ways.some(({ via }) => via === refId)),
  );
}

function isInFeed(reader: ModelReader, actionId: string): boolean {
  return !reader.archivedActionIds.includes(actionId) && !isSnoozed(reader, actionId);
}

/** What is snoozed at a time that has not come. */
export function isSnoozed({ snoozed }: ModelReader, actionId: string): boolean {
  return (snoozed.get(actionId) ?? -Infinity) > Date.now();
}

/** What the reader snoozed. */
export function snoozesFor(model: Model, reader: ModelReader): ModelItem[] {
  return itemsFor(model, reader).filter(({ action }) => isSnoozed(reader, action.id));
}

/** Its relevancy, or when it came back from a snooze if that was later. */
export function placeOf(model: Model, reader: ModelReader, action: ModelAction): number {
  const relevancy = relevancyFor(model, reader.userId, action);
  if (isSnoozed(reader, action.id)) return relevancy;
  return Math.max(relevancy, reader.snoozed.get(action.id) ?? -Infinity);
}

/** Nothing that has happened so far puts it above this for anybody. */
export function highestOf(action: ModelAction): number {
  return Math.max(baseOf(action), ...action.interactions.map(({ at }) => at));
}

/** What the reader put away. */
export function archiveFor(model: Model, reader: ModelReader): ModelItem[] {
  return itemsFor(model, reader).filter(({ action }) => reader.archivedActionIds.includes(action.id));
}

/** What the reader hid and may see, in no particular order. */
export function hiddenBy(model: Model, reader: ModelReader): ModelAction[] {
  return model.actions.filter(
    (action) => reader.hiddenActionIds.includes(action.id) && maySee(model, reader, action),
  );
}

function itemsFor(model: Model, reader: ModelReader): ModelItem[] {
  const items: ModelItem[] = [];
  for (const action of model.actions) {
    const reasons = reasonsFor(model, reader.userId, action);
    if (reasons.length === 0 || action.isHidden || !maySee(model, reader, action)) continue;
    if (isMuted(reader, action) || reader.hiddenActionIds.includes(action.id)) continue;
    const relevancy = placeOf(model, reader, action);
    const isUnread = isUnreadAt(reader, action.id, relevancy);
    items.push({ action, relevancy, reasons, isUnread });
  }
  return items.sort((a, b) => b.relevancy - a.relevancy || (a.action.id < b.action.id ? 1 : -1));
}

/** What the reader keeps for later and may see, the newest bookmark first. */
export function bookmarksOf(model: Model, reader: ModelReader): ModelAction[] {
  return [...reader.bookmarks]
    .sort((a, b) => b.at - a.at || (a.actionId < b.actionId ? 1 : -1))
    .flatMap(({ actionId }) => model.actions.find((action) => action.id === actionId) ?? [])
    .filter((action) => maySee(model, reader, action));
}

/** What the reader may see of the actions that carry a ref, newest first. */
export function sliceFor(model: Model, reader: ModelReader, refId: string): ModelAction[] {
  return model.actions
    .filter((action) => carries(action, refId) && maySee(model, reader, action))
    .sort((a, b) => b.conducted - a.conducted || (a.id < b.id ? 1 : -1));
}

export interface ModelEngagement {
  readonly comments: number;
  readonly likes: number;
  readonly reshares: number;
  /** By reaction, the most frequent first. */
  readonly reactions: readonly { readonly reaction: string; readonly count: number }[];
  readonly lastInteraction: Date | null;
}

/** What is visible of what was done with the action. Lifts go by all of it. */
export function engagementOf({ interactions }: ModelAction): ModelEngagement {
  const visible = interactions.filter(({ state }) => state === 'VISIBLE');
  const count = (kind: InteractionKind): number => visible.filter((one) => one.kind === kind).length;
  const given = visible.flatMap(({ reaction }) => (reaction === null ? [] : [reaction]));
  const reactions = [...new Set(given)].map((reaction) => ({
    reaction,
    count: given.filter((one) => one === reaction).length,
  }));
  return {
    comments: count('COMMENT'),
    likes: count('LIKE'),
    reshares: count('RESHARE'),
    reactions: reactions.sort((x, y) => y.count - x.count || (x.reaction < y.reaction ? -1 : 1)),
    lastInteraction: visible.length === 0 ? null : new Date(Math.max(...visible.map(({ at }) => at))),
  };
}

/** What the reader is shown of what was done with the action, newest first. */
export function interactionsFor(
  model: Model,
  reader: ModelReader,
  { interactions }: ModelAction,
): ModelInteraction[] {
  const isAdmin = reader.roles.includes('admin');
  return interactions
    .filter(({ state }) => state === 'VISIBLE' || (state === 'HIDDEN' && isAdmin))
    .filter(({ actorId }) => !isBlocked(model, reader, actorId))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

/** What is pinned to a ref of that the reader may see: what does not carry the ref any more is not shown there. */
export function pinnedFor(model: Model, reader: ModelReader, refId: string): ModelAction[] {
  return (model.pins.get(refId) ?? [])
    .flatMap((actionId) => model.actions.find(({ id }) => id === actionId) ?? [])
    .filter((action) => carries(action, refId) && maySee(model, reader, action));
}

/** How many follow it now. */
export function followersOf({ follows }: Model, refId: string): number {
  return follows.filter((follow) => follow.refId === refId && follow.isActive).length;
}

export function followOf(model: Model, followerId: string, refId: string): ModelFollow {
  const found = model.follows.find((f) => f.followerId === followerId && f.refId === refId);
  if (found !== undefined) return found;
  const follow: ModelFollow = {
    ...{ followerId, refId, isActive: false, isAssigned: false, spans: [], lists: [] },
    ...{ id: '', openedAt: null, assignedAt: null },
  };
  model.follows.push(follow);
  return follow;
}

export function isFollowing(model: Model, followerId: string, refId: string): boolean {
  return followOf(model, followerId, refId).isActive;
}

/** What a follow takes that goes on, or one that begins: what is not given stays. */
export function typesTaken(
  model: Model,
  followerId: string,
  refId: string,
  given: readonly string[] | null | undefined,
): readonly string[] | null {
  if (given !== undefined) return given;
  return openSpanOf(model, followerId, refId)?.types ?? null;
}

export function openSpanOf(model: Model, followerId: string, refId: string): ModelSpan | undefined {
  return followOf(model, followerId, refId).spans.find(({ until }) => until === null);
}

export function isOpenWith(
  model: Model,
  followerId: string,
  refId: string,
  types: readonly string[] | null,
): boolean {
  const now = openSpanOf(model, followerId, refId)?.types ?? null;
  return (
    (now === null) === (types === null) && [...(now ?? [])].sort().join() === [...(types ?? [])].sort().join()
  );
}

export function isAssigned(model: Model, followerId: string, refId: string): boolean {
  return followOf(model, followerId, refId).isAssigned;
}

/** What is not given stays. */
export function assign(model: Model, followerId: string, refId: string, given: boolean | undefined): void {
  const follow = followOf(model, followerId, refId);
  if (given !== undefined) follow.isAssigned = given;
  if (!follow.isAssigned) follow.assignedAt = null;
}

/** The oldest of the past actions that a new follow brings along; undefined when it begins now. */
export function oldestCopied(
  model: Model,
  refId: string,
  copyLimit: number,
  types: readonly string[] | null,
): ModelAction | undefined {
  return model.actions
    .filter((a) => carries(a, refId) && isForFollowers(a) && !a.isHidden && !a.isDeleted)
    .filter(({ type }) => types === null || types.includes(type))
    .sort((a, b) => b.recorded - a.recorded || (a.id < b.id ? 1 : -1))
    .slice(0, copyLimit)
    .at(-1);
}

export function openSpan(model: Model, followerId: string, refId: string, span: ModelSpan): void {
  const follow = followOf(model, followerId, refId);
  follow.isActive = true;
  follow.spans.push(span);
}

/** Who follows already and asks for past actions has followed since the oldest of them. */
export function bringAlong(model: Model, followerId: string, refId: string, oldest: ModelAction): void {
  const span = openSpanOf(model, followerId, refId);
  if (span === undefined || isInSpan(span, oldest)) return;
  span.since = oldest.recorded;
  span.firstActionId = oldest.id;
}

/** Another one is opened then. */
export function endSpan(model: Model, followerId: string, refId: string, until: number): void {
  const span = openSpanOf(model, followerId, refId);
  if (span !== undefined) span.until = until;
}

/** @param until null: with its history. */
export function endFollow(model: Model, followerId: string, refId: string, until: number | null): void {
  const follow = followOf(model, followerId, refId);
  if (until === null) follow.spans = [];
  for (const span of follow.spans) span.until ??= until;
  follow.isActive = false;
  follow.isAssigned = false;
  follow.lists = [];
  if (until === null) follow.openedAt = null;
  follow.assignedAt = null;
}

/** What this repeats: everything but comments is done once by each actor, comments once with each key. */
export function repeatedBy(
  action: ModelAction,
  of: Pick<ModelInteraction, 'kind' | 'actorId' | 'reaction'> & { readonly key: string | null },
): ModelInteraction | undefined {
  return action.interactions.find(
    (known) =>
      known.actorId === of.actorId &&
      known.kind === of.kind &&
      known.reaction === of.reaction &&
      (of.kind !== 'COMMENT' || (of.key !== null && known.keys.includes(of.key))),
  );
}

/** Done once more. What was taken back is there again, unless the key has given it before. */
export function repeat(known: ModelInteraction, key: string | null): void {
  const isReplay = key !== null && known.keys.includes(key);
  if (known.state === 'REMOVED' && known.kind !== 'COMMENT' && !isReplay) {
    known.state = known.wasHidden ? 'HIDDEN' : 'VISIBLE';
    known.wasHidden = false;
  }
  if (key !== null && !isReplay) known.keys.push(key);
}

export function takeBack(interaction: ModelInteraction): void {
  if (interaction.state === 'HIDDEN') interaction.wasHidden = true;
  interaction.state = 'REMOVED';
}
