import type {
  FeedClient,
  FollowState,
  Instant,
  MuteTarget,
  NotificationPreference,
  QuietHours,
} from '@fanfare/client';
import { BLOCK_STATE, FOLLOW_STATE, MUTES, PREFERENCES } from '../more-documents.ts';
import { answerOf, type Answer, type Asker } from './answers.ts';
import { randomKey } from './random-key.ts';

// What a reader has made of people, things and kinds, and how that is changed.

export interface Of extends Asker {
  readonly client: Pick<FeedClient, 'mutations' | 'request'>;
}

export function nodeOf(refId: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(`Ref:${refId}`)));
}

interface Followed {
  readonly node: FollowState | null;
}

/** By its node: as a ref it has been found only when the host described it, and people are followed too. */
export function followAnswer(reader: Asker, refId: string): Answer<Followed> {
  return answerOf<Followed>(reader, FOLLOW_STATE, { id: nodeOf(refId) });
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

interface Blocked {
  /** Null: the host has never described them. */
  readonly member: { readonly isBlocked: boolean } | null;
}

export function blockAnswer(reader: Asker, memberId: string): Answer<Blocked> {
  return answerOf<Blocked>(reader, BLOCK_STATE, { memberId });
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

export function mutesAnswer(reader: Asker): Answer<Muted> {
  return answerOf<Muted>(reader, MUTES);
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
  readonly mails: Mails | null;
}

/** Why no mails are sent to the reader's address, and since when no digests are, because they unsubscribed; null: they are. */
export interface Mails {
  readonly offReason: 'REFUSED' | 'BOUNCED' | 'COMPLAINED' | null;
  readonly digestsOffSince: Instant | null;
}

interface Preferred {
  readonly viewer: Preferences;
}

export function preferencesAnswer(reader: Asker): Answer<Preferred> {
  return answerOf<Preferred>(reader, PREFERENCES);
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
    (data) =>
      changed(data, ({ notificationPreferences }) => ({
        notificationPreferences: notificationPreferences.map((one) => ({
          ...one,
          isOn: changeOf(one)?.isOn ?? one.isOn,
        })),
      })),
    () => setNotificationPreferences({ preferences: changes }),
  );
  // One of a type may be new.
  void answer.reload();
}

/** @param quietHours null: none */
export async function setQuietHours(of: Of, quietHours: QuietHours | null): Promise<void> {
  await preferencesAnswer(of).write(
    (data) => changed(data, () => ({ quietHours })),
    () => of.client.mutations.setQuietHours({ ...quietHours }),
  );
}

/** Mails, and digests among them, are sent again. */
export async function resumeMails(of: Of): Promise<void> {
  await preferencesAnswer(of).write(
    (data) => changed(data, () => ({ mails: { offReason: null, digestsOffSince: null } })),
    () => of.client.mutations.resumeMails({}),
  );
}

const UNKNOWN: Preferences = { notificationPreferences: [], quietHours: null, mails: null };

function changed(
  data: Preferred | undefined,
  change: (before: Preferences) => Partial<Preferences>,
): Preferred {
  const before = data?.viewer ?? UNKNOWN;
  return { viewer: { ...before, ...change(before) } };
}
