import type {
  FeedClient,
  FeedOrder,
  FollowState,
  Instant,
  MuteTarget,
  NotificationPreference,
  QuietHours,
  ReaderList,
  UnreadCount,
} from '@fanfare/client';
import { BLOCK_STATE, FOLLOW_STATE, LISTS, LISTS_OF, MUTES, PREFERENCES, VIEWS } from '../documents.ts';
import type { Answer, Answers } from './answers.ts';
import { randomKey } from './random-key.ts';

// What a reader has made of people, things and kinds, and how that is changed.

interface Of {
  readonly answers: Answers;
  readonly client: Pick<FeedClient, 'mutations'>;
}

function nodeOf(refId: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(`Ref:${refId}`)));
}

interface Followed {
  readonly node: FollowState | null;
}

/** By its node: as a ref it has been found only when the host described it, and people are followed too. */
export function followAnswer({ answers }: Pick<Of, 'answers'>, refId: string): Answer<Followed> {
  return answers.of<Followed>(FOLLOW_STATE, { id: nodeOf(refId) });
}

export async function setFollow(of: Of, refId: string, isFollowed: boolean): Promise<FollowState> {
  const { follow, unfollow } = of.client.mutations;
  return followAnswer(of, refId).write(
    (data) => {
      // Not known yet: as if it were the other way round, with nobody.
      const now = data?.node ?? {
        refId,
        isFollowed: data !== undefined ? false : !isFollowed,
        followerCount: 0,
      };
      const by = now.isFollowed === isFollowed ? 0 : isFollowed ? 1 : -1;
      return { node: { refId, isFollowed, followerCount: Math.max(0, now.followerCount + by) } };
    },
    () => (isFollowed ? follow : unfollow)({ refId }),
    (node) => ({ node }),
  );
}

/** A view of the server's configuration. */
export interface CountedView {
  /** What `useFeed({ view })` takes. */
  readonly name: string;
  readonly label: string;
  /** To be shown by `useFeedGroups`. */
  readonly isGrouped: boolean;
  /** Null: the server ranks it. */
  readonly order: FeedOrder | null;
  readonly unread: UnreadCount;
}

interface Viewed {
  readonly viewer: { readonly views: readonly CountedView[] };
}

export function viewsAnswer({ answers }: Pick<Of, 'answers'>): Answer<Viewed> {
  return answers.of<Viewed>(VIEWS);
}

/** A list of what the reader follows, with its unread items. */
export interface CountedList extends ReaderList {
  readonly unread: UnreadCount;
}

interface Listed {
  readonly viewer: { readonly lists: readonly CountedList[] };
}

export function listsAnswer({ answers }: Pick<Of, 'answers'>): Answer<Listed> {
  return answers.of<Listed>(LISTS);
}

interface ListsOf {
  readonly node: { readonly follow: { readonly listIds: readonly string[] } | null } | null;
}

/** The lists that a ref is in. */
export function listsOfAnswer({ answers }: Pick<Of, 'answers'>, refId: string): Answer<ListsOf> {
  return answers.of<ListsOf>(LISTS_OF, { id: nodeOf(refId) });
}

export async function setInList(of: Of, listId: string, refId: string, isIn: boolean): Promise<void> {
  const { addToList, removeFromList } = of.client.mutations;
  await listsOfAnswer(of, refId).write(
    (data) => {
      const others = data?.node?.follow?.listIds.filter((id) => id !== listId) ?? [];
      return { node: { follow: { listIds: isIn ? [...others, listId] : others } } };
    },
    () => (isIn ? addToList : removeFromList)({ id: listId, refIds: [refId] }),
  );
  void listsAnswer(of).reload();
}

/** Changes the lists on the server, and shows them as they are then. */
export async function changeLists<Result>(
  of: Of,
  change: (mutations: FeedClient['mutations']) => Promise<Result>,
): Promise<Result> {
  const result = await change(of.client.mutations);
  await listsAnswer(of).reload();
  return result;
}

interface Blocked {
  /** Null: the host has never described them. */
  readonly member: { readonly isBlocked: boolean } | null;
}

export function blockAnswer({ answers }: Pick<Of, 'answers'>, memberId: string): Answer<Blocked> {
  return answers.of<Blocked>(BLOCK_STATE, { memberId });
}

export async function setBlock(of: Of, memberId: string, isBlocked: boolean): Promise<void> {
  const { blockMember, unblockMember } = of.client.mutations;
  await blockAnswer(of, memberId).write(
    () => ({ member: { isBlocked } }),
    () => (isBlocked ? blockMember : unblockMember)({ memberId }),
    () => ({ member: { isBlocked } }),
  );
}

export interface Mute {
  readonly id: string;
  readonly type: string | null;
  readonly phrase: string | null;
  /** Null: for good. */
  readonly until: Instant | null;
  readonly member: { readonly memberId: string; readonly name: string } | null;
  readonly ref: { readonly refId: string; readonly label: string } | null;
}

interface Muted {
  readonly viewer: { readonly mutes: readonly Mute[] };
}

export function mutesAnswer({ answers }: Pick<Of, 'answers'>): Answer<Muted> {
  return answers.of<Muted>(MUTES);
}

function isOf({ type, phrase, member, ref }: Mute, target: MuteTarget): boolean {
  const values: Readonly<Record<string, string | null | undefined>> = {
    ...{ type, phrase, memberId: member?.memberId, refId: ref?.refId },
  };
  return Object.entries(target).every(([name, value]) => values[name] === value);
}

/** @param until absent: for good */
export async function mute(of: Of, target: MuteTarget, until?: Date): Promise<void> {
  const answer = mutesAnswer(of);
  const ends = until?.toISOString();
  const made: Mute = {
    id: randomKey(),
    type: null,
    phrase: null,
    until: ends ?? null,
    member: null,
    ref: null,
  };
  // Names are the server's to know: until it is read again, an id stands for them.
  const shown: Mute = {
    ...made,
    ...('memberId' in target && { member: { memberId: target.memberId, name: target.memberId } }),
    ...('refId' in target && { ref: { refId: target.refId, label: target.refId } }),
    ...('type' in target && { type: target.type }),
    ...('phrase' in target && { phrase: target.phrase }),
  };
  await answer.write(
    (data) => ({ viewer: { mutes: [...withoutMute(data, target), shown] } }),
    () => of.client.mutations.addMute({ target, ...(ends !== undefined && { until: ends }) }),
  );
  void answer.reload();
}

export async function unmute(of: Of, target: MuteTarget): Promise<void> {
  await mutesAnswer(of).write(
    (data) => ({ viewer: { mutes: withoutMute(data, target) } }),
    () => of.client.mutations.removeMute({ target }),
  );
}

function withoutMute(data: Muted | undefined, target: MuteTarget): readonly Mute[] {
  return data?.viewer.mutes.filter((one) => !isOf(one, target)) ?? [];
}

export interface Preferences {
  readonly notificationPreferences: readonly NotificationPreference[];
  readonly quietHours: QuietHours | null;
}

interface Preferred {
  readonly viewer: Preferences;
}

export function preferencesAnswer({ answers }: Pick<Of, 'answers'>): Answer<Preferred> {
  return answers.of<Preferred>(PREFERENCES);
}

export type PreferenceChange = Pick<NotificationPreference, 'kind' | 'channel' | 'isOn'> & {
  /** Only about actions of this type. */
  readonly type?: string | null;
};

export async function setPreferences(of: Of, changes: readonly PreferenceChange[]): Promise<void> {
  const { setNotificationPreferences } = of.client.mutations;
  const changeOf = (one: NotificationPreference): PreferenceChange | undefined =>
    changes.find(
      ({ kind, channel, type = null }) => kind === one.kind && channel === one.channel && type === one.type,
    );
  const answer = preferencesAnswer(of);
  await answer.write(
    (data) => ({
      viewer: {
        quietHours: data?.viewer.quietHours ?? null,
        notificationPreferences: (data?.viewer.notificationPreferences ?? []).map((one) => ({
          ...one,
          isOn: changeOf(one)?.isOn ?? one.isOn,
        })),
      },
    }),
    () => setNotificationPreferences({ preferences: changes }),
  );
  // One of a type may be new.
  void answer.reload();
}

/** @param quietHours null: none */
export async function setQuietHours(of: Of, quietHours: QuietHours | null): Promise<void> {
  await preferencesAnswer(of).write(
    (data) => ({
      viewer: { notificationPreferences: data?.viewer.notificationPreferences ?? [], quietHours },
    }),
    () => of.client.mutations.setQuietHours({ ...quietHours }),
  );
}
