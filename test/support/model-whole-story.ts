import type { Step, Story } from './model-steps.ts';

/** Each kind of step, and whether it changes what the definition knows, or only how far the server has come. */
export const KINDS: Readonly<Record<Step['do'], 'changes' | 'works'>> = {
  publish: 'changes',
  interact: 'changes',
  takeBack: 'changes',
  hideInteraction: 'changes',
  unhideInteraction: 'changes',
  editInteraction: 'changes',
  pin: 'changes',
  unpin: 'changes',
  hide: 'changes',
  unhide: 'changes',
  edit: 'changes',
  expire: 'changes',
  delete: 'changes',
  follow: 'changes',
  followMany: 'changes',
  unfollow: 'changes',
  addMute: 'changes',
  removeMute: 'changes',
  endMute: 'changes',
  block: 'changes',
  unblock: 'changes',
  hideItem: 'changes',
  unhideItem: 'changes',
  archiveItem: 'changes',
  unarchiveItem: 'changes',
  snoozeItem: 'changes',
  unsnoozeItem: 'changes',
  endSnooze: 'changes',
  markItemRead: 'changes',
  markItemUnread: 'changes',
  seeNotifications: 'changes',
  readNotifications: 'changes',
  readNotification: 'changes',
  preferNotifications: 'changes',
  bookmark: 'changes',
  unbookmark: 'changes',
  markRead: 'changes',
  rename: 'changes',
  move: 'changes',
  fanOut: 'works',
  cutOff: 'works',
  startWorker: 'works',
  stopWorker: 'works',
  look: 'works',
};

const by = 'bob';
const publishedBy = (actor: 'ann' | 'cid', more: Partial<Extract<Step, { do: 'publish' }>> = {}): Step => ({
  ...{ do: 'publish', count: 1, actor, scope: 'PUBLIC', mentions: [], recipients: [], refs: ['site'] },
  ...{ conducted: 1, type: 'Custom', text: 'posted', tags: ['red', 'blue'] },
  ...more,
});
const said = (
  kind: 'COMMENT' | 'LIKE' | 'REACTION',
  action: number,
  more: Partial<Extract<Step, { do: 'interact' }>> = {},
): Step => ({
  ...{ do: 'interact', action, actor: by, byService: false, kind, reaction: '👍', key: null, at: 'now' },
  ...more,
});

/**
 * One of everything that can happen, each with an effect, after which Bob has something in every list and by every filter.
 * Numbers are those of the actions, in the order they are published.
 */
export const WHOLE_STORY: Story = {
  focus: by,
  pageSize: 2,
  steps: [
    {
      do: 'move',
      moves: [
        { who: 'ann', team: 't1', department: 'd1', supervisor: 'cid' },
        { who: 'bob', team: 't1', department: 'd1', supervisor: 'ann' },
      ],
    },
    {
      do: 'followMany',
      pairs: [
        { by, ref: 'site', isAssigned: true },
        { by: 'cid', ref: 'site', isAssigned: true },
        { by, ref: 'ann' },
      ],
    },
    publishedBy('ann', { count: 2, mentions: [by] }), // 0 and 1
    publishedBy('ann', { scope: 'FOLLOWERS', type: 'NewApplicant', conducted: 'now' }), // 2
    publishedBy('cid', { refs: [] }), // 3
    publishedBy('ann', { count: 3, scope: 'TEAM' }), // 4 to 6
    publishedBy('ann', { count: 3, conducted: 2 }), // 7 to 9
    publishedBy('ann', { text: 'went home', conducted: 0 }), // 10
    publishedBy('ann', { type: 'ApplicantRatingRequested', asked: by, conducted: 'now' }), // 11
    { do: 'startWorker' },
    { do: 'look', by },
    { do: 'stopWorker' },
    {
      ...{ do: 'interact', action: 3, actor: 'ann', byService: false, kind: 'RESHARE' },
      ...{ reaction: '👍', key: 'k', at: 'now' },
    },
    said('COMMENT', 0, { words: 'well done' }),
    said('COMMENT', 0, { replyTo: 0 }),
    { do: 'editInteraction', action: 0, interaction: 1, by, words: 'Really?' },
    said('LIKE', 1),
    said('LIKE', 1, { actor: 'cid' }),
    said('REACTION', 2),
    { do: 'takeBack', action: 1, by, kind: 'LIKE', reaction: null },
    { do: 'hideInteraction', action: 0, interaction: 0 },
    { do: 'unhideInteraction', action: 0, interaction: 0 },
    said('COMMENT', 0, { actor: 'ann', replyTo: 0 }),
    { do: 'cutOff' },
    { do: 'fanOut' },
    { do: 'hide', action: 9 },
    { do: 'unhide', action: 9 },
    { do: 'edit', action: 9, by: 'a service', isStale: false, tags: ['blue'], text: 'homework' },
    ...([2, 1, 'never', 1] as const).map((expires): Step => ({
      ...{ do: 'edit', action: 2, by: 'a service', isStale: false, expires },
    })),
    ...[1, 2, 9, 1].map((action): Step => ({ do: 'pin', ref: 'ann', by: 'eve', action })),
    { do: 'unpin', ref: 'ann', by: 'a service', action: 9 },
    { do: 'pin', ref: 'ann', by: 'a service', action: 7 },
    { do: 'expire', action: 7 },
    { do: 'pin', ref: 'ann', by: 'a service', action: 0 },
    { do: 'delete', action: 8, by: 'ann' },
    { do: 'follow', by, ref: 'position', copyLimit: 3 },
    { do: 'unfollow', by, ref: 'position', keepHistory: false, isSync: false },
    { do: 'addMute', by, kind: 'MEMBER', value: 'dan', hasEnd: false },
    { do: 'removeMute', by, kind: 'MEMBER', value: 'dan', hasEnd: false },
    { do: 'block', by, who: 'dan' },
    { do: 'unblock', by, who: 'dan' },
    { do: 'block', by: 'cid', who: 'dan' },
    { do: 'addMute', by, kind: 'PHRASE', value: 'went  home', hasEnd: true },
    { do: 'endMute', by, mute: 0 },
    { do: 'addMute', by, kind: 'TYPE', value: 'NewApplicant', hasEnd: false },
    { do: 'removeMute', by, kind: 'TYPE', value: 'NewApplicant', hasEnd: false },
    { do: 'hideItem', by, action: 10 },
    { do: 'unhideItem', by, action: 10 },
    { do: 'archiveItem', by, action: 10 },
    { do: 'unarchiveItem', by, action: 10 },
    { do: 'snoozeItem', by, action: 10 },
    { do: 'unsnoozeItem', by, action: 10 },
    { do: 'snoozeItem', by, action: 10 },
    { do: 'endSnooze', by, action: 10, at: 'now' },
    { do: 'markRead', by, upTo: 'the end of time' },
    { do: 'hideItem', by, action: 4 },
    { do: 'archiveItem', by, action: 5 },
    { do: 'snoozeItem', by, action: 6 },
    { do: 'markItemRead', by, action: 0 },
    ...[0, 1, 2, 3, 5, 6, 9, 10].map((action): Step => ({ do: 'markItemUnread', by, action })),
    { do: 'seeNotifications', by, upTo: 1 },
    { do: 'readNotifications', by, upTo: 'all' },
    said('COMMENT', 0, { actor: 'cid', mentions: [by] }),
    { do: 'readNotification', by, upTo: 0 },
    { do: 'preferNotifications', by, kind: 'ASSIGNED', type: null, isOn: false },
    { do: 'bookmark', by, action: 1 },
    { do: 'bookmark', by, action: 2 },
    { do: 'unbookmark', by, action: 1 },
    { do: 'rename', ref: 'site', label: 'North' },
    { do: 'fanOut' },
  ],
};
