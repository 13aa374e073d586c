import type { FollowState } from '@fanfare/client';
import { expect, test, vi } from 'vitest';
import { FollowStore } from '../../src/store/follows.ts';
import { createTestClient } from '../../src/testing.ts';

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
  const follows = new FollowStore(client);
  await follows.load('ada');
  const shown = () => {
    const { isFollowed, followerCount } = follows.get('ada') ?? {};
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
  const follows = new FollowStore(client);
  const loading = follows.load('ada');
  await follows.set('ada', true);
  answer({ node: state(false, 1) });
  await loading;
  expect(follows.get('ada')).toEqual(state(true, 2));
});
