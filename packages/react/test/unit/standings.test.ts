import type { FollowState } from '@fanfare/client';
import { expect, test, vi } from 'vitest';
import * as deeds from '../../src/store/deeds.ts';
import { Reader } from '../../src/store/reader.ts';
import {
  followAnswer,
  mute,
  mutesAnswer,
  preferencesAnswer,
  setFollow,
  setPreferences,
  unmute,
} from '../../src/store/standings.ts';
import { createTestClient, testItem } from '../../src/testing.ts';

interface Sent {
  readonly isFollowed: boolean;
  readonly answer: (state: FollowState) => void;
  readonly fail: (error: Error) => void;
}

/** A store that knows of one follower who is not the reader, and what it has sent. */
async function settle() {
  const sent: Sent[] = [];
  const send = (isFollowed: boolean) => () =>
    new Promise<FollowState>((answer, fail) => {
      sent.push({ isFollowed, answer, fail });
    });
  const client = createTestClient({
    feed: () => [],
    request: () => ({ node: { refId: 'ada', isFollowed: false, followerCount: 1 } }),
    mutations: { follow: send(true), unfollow: send(false) },
  });
  const reader = new Reader({ client });
  const answer = followAnswer(reader, 'ada');
  await answer.reload();
  const follows = { set: (refId: string, isFollowed: boolean) => setFollow(reader, refId, isFollowed) };
  const shown = () => {
    const { isFollowed, followerCount } = answer.getSnapshot().data?.node ?? {};
    return [isFollowed, followerCount];
  };
  const sends = (count: number) => vi.waitFor(() => expect(sent).toHaveLength(count));
  return { follows, sent, shown, sends };
}

const state = (isFollowed: boolean, followerCount: number): FollowState => ({
  ...{ refId: 'ada', isFollowed, followerCount },
});

test('the last choice is shown while both writes are pending, and they reach the server one after the other', async () => {
  const { follows, sent, shown, sends } = await settle();
  const following = follows.set('ada', true);
  const leaving = follows.set('ada', false);
  expect(shown()).toEqual([false, 1]);
  await sends(1);
  sent[0]?.answer(state(true, 2));
  await following;
  expect(shown()).toEqual([false, 1]);
  await sends(2);
  expect(sent.map(({ isFollowed }) => isFollowed)).toEqual([true, false]);
  sent[1]?.answer(state(false, 1));
  await leaving;
  expect(shown()).toEqual([false, 1]);
});

test('a failed write undoes only itself, whatever was chosen before and after it', async () => {
  const { follows, sent, shown, sends } = await settle();
  const refused = follows.set('ada', true);
  const leaving = follows.set('ada', false);
  await sends(1);
  sent[0]?.fail(new Error('No'));
  await expect(refused).rejects.toThrow('No');
  expect(shown()).toEqual([false, 1]);
  await sends(2);
  sent[1]?.answer(state(false, 1));
  await leaving;
  const following = follows.set('ada', true);
  const refusedAgain = follows.set('ada', false);
  await sends(3);
  sent[2]?.answer(state(true, 2));
  await following;
  await sends(4);
  expect(shown()).toEqual([false, 1]);
  sent[3]?.fail(new Error('No'));
  await expect(refusedAgain).rejects.toThrow('No');
  // Not what was there before either of them.
  expect(shown()).toEqual([true, 2]);
});

test('a response about the state before a write does not undo it', async () => {
  let answer: (data: unknown) => void = () => undefined;
  const client = createTestClient({
    feed: () => [],
    request: () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
    mutations: { follow: () => Promise.resolve(state(true, 2)) },
  });
  const reader = new Reader({ client });
  const follow = followAnswer(reader, 'ada');
  const loading = follow.reload();
  await setFollow(reader, 'ada', true);
  answer({ node: state(false, 1) });
  await loading;
  expect(follow.getSnapshot().data?.node).toEqual(state(true, 2));
});

test('what is muted is listed at once under its id, then as the server has it, and stays when ending it fails', async () => {
  const ada = {
    id: 'm',
    type: null,
    phrase: null,
    until: null,
    ref: null,
    member: { memberId: 'ada', name: 'Ada' },
  };
  let mutes: object[] = [];
  const client = createTestClient({
    feed: () => [],
    request: () => ({ viewer: { mutes } }),
    mutations: {
      addMute: () => {
        mutes = [ada];
        return Promise.resolve({ unreadCount: { count: 0, isExact: true } });
      },
      removeMute: () => Promise.reject(new Error('No')),
    },
  });
  const reader = new Reader({ client });
  const answer = mutesAnswer(reader);
  await answer.reload();
  const names = () => answer.getSnapshot().data?.viewer.mutes.map(({ member }) => member?.name);
  const muting = mute(reader, { memberId: 'ada' });
  expect(names()).toEqual(['ada']);
  await muting;
  await vi.waitFor(() => expect(names()).toEqual(['Ada']));
  const ending = unmute(reader, { memberId: 'ada' });
  expect(names()).toEqual([]);
  await expect(ending).rejects.toThrow('No');
  expect(names()).toEqual(['Ada']);
});

test('a preference is shown at once, and as before when it could not be set', async () => {
  const like = { kind: 'LIKE', type: null, channel: 'EMAIL', isOn: true, isLocked: false } as const;
  const client = createTestClient({
    feed: () => [],
    request: () => ({ viewer: { notificationPreferences: [like], quietHours: null, mails: null } }),
    mutations: { setNotificationPreferences: () => Promise.reject(new Error('No')) },
  });
  const reader = new Reader({ client });
  const answer = preferencesAnswer(reader);
  await answer.reload();
  const isOn = () => answer.getSnapshot().data?.viewer.notificationPreferences.map((one) => one.isOn);
  const setting = setPreferences(reader, [{ kind: 'LIKE', channel: 'EMAIL', isOn: false }]);
  expect(isOn()).toEqual([false]);
  await expect(setting).rejects.toThrow('No');
  expect(isOn()).toEqual([true]);
});

test.each(['mute', 'block'] as const)(
  'an item goes at once with a %s of its author, and comes back with its undo',
  async (what) => {
    const sent: string[] = [];
    const send = (name: string) => () => {
      sent.push(name);
      return Promise.resolve({ memberId: 'ada', unreadCount: { count: 0, isExact: true } });
    };
    const item = testItem('a', '2026-01-01T00:00:00.000Z');
    const client = createTestClient({
      feed: () => [item],
      request: () => ({ viewer: { mutes: [] } }),
      mutations: {
        ...{ addMute: send('mute'), removeMute: send('unmute') },
        ...{ blockMember: send('block'), unblockMember: send('unblock') },
      },
    });
    const reader = new Reader({ client });
    const feed = reader.feed({ live: 'off' });
    const leave = feed.use(() => undefined);
    const ids = () => feed.getSnapshot().items.map(({ id }) => id);
    await vi.waitFor(() => expect(ids()).toEqual(['a']));
    const taking =
      what === 'mute' ? deeds.muteBy(reader, item, { memberId: 'ada' }) : deeds.blockAuthor(reader, item);
    expect(ids()).toEqual([]);
    const undo = await taking;
    await undo();
    await vi.waitFor(() => expect(ids()).toEqual(['a']));
    expect(sent).toEqual([what, `un${what}`]);
    leave();
  },
);
