import type { PublishActionInput } from '../../src/core/shapes.ts';
import type { Running } from './installation.ts';

/** What an operation is about is found when it is done: these pick among what is there then. */
export interface Numbers {
  /** Of the member. */
  readonly by: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** What operations know of what there is. */
export interface Stage {
  readonly members: readonly string[];
  /** Ids in the order in which they were first answered, as they were when the operation was sent first. */
  readonly actions: readonly string[];
  readonly interactions: readonly string[];
  add(what: 'actions' | 'interactions', id: string): void;
  /** One more client of a member begins to watch. */
  watch(reader: string): void;
}

/** What stays the same however often a client sends it again. */
export interface Sent extends Numbers {
  readonly key: string;
  /** Before it is sent: what will be so once it is answered. */
  says(said: readonly Said[]): void;
}

/** A promise that a client relies on once it has an answer: this is so, unless somebody changed it since. */
export interface Said {
  /** What it is about. */
  readonly of: string;
  /** `*`: whatever it may be from now on, other operations decide, too. */
  readonly is: string;
}

type Run = (process: Running, stage: Stage, sent: Sent) => Promise<void>;

const SITES = ['site-0', 'site-1'];
const TEAMS = ['t0', 't1'];
const nobody = undefined;

function pick<T>(from: readonly T[], number: number): T | undefined {
  return from.length === 0 ? nobody : from[number % from.length];
}

/** The newest are the most wanted. */
function actionOf({ actions }: Stage, { a }: Numbers): string {
  const id = actions.at(-1 - (a % Math.max(1, actions.length)));
  if (id === undefined) throw new Nothing();
  return id;
}

function interactionOf({ interactions }: Stage, { a }: Numbers): string {
  const id = interactions.at(-1 - (a % Math.max(1, interactions.length)));
  if (id === undefined) throw new Nothing();
  return id;
}

/** There is nothing yet that the operation could be about. */
export class Nothing extends Error {}

const by = ({ members }: Stage, { by: n }: Numbers): string => pick(members, n) ?? '';
const other = (stage: Stage, { by: n, b }: Numbers): string =>
  pick(stage.members, n + 1 + (b % Math.max(1, stage.members.length - 1))) ?? '';
/** Of a member or a site. */
const followed = (stage: Stage, sent: Numbers): string =>
  sent.c % 3 === 0 ? (pick(SITES, sent.b) ?? '') : other(stage, sent);

const publish: Run = async (process, stage, sent) => {
  const actorId = by(stage, sent);
  const scope = pick(['PUBLIC', 'FOLLOWERS', 'TEAM', 'PUBLIC', 'FOLLOWERS', 'PRIVATE'], sent.b) ?? 'PUBLIC';
  const input: PublishActionInput = {
    ...{ actorId, scope: scope === 'PRIVATE' ? 'FOLLOWERS' : scope, idempotencyKey: sent.key },
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(sent.c % 4) } },
    mentions: sent.c % 4 === 0 ? [other(stage, sent)] : [],
    refs: sent.c % 2 === 0 ? [{ id: pick(SITES, sent.c) ?? '', type: 'site', label: 'Site' }] : [],
    ...(sent.c % 13 === 0 ? { expiresAt: new Date(process.now() + 2_000 + (sent.c % 7) * 500) } : {}),
  };
  const { action } = await process.services.publishAction(process.identity('importer', 'service'), input);
  stage.add('actions', action.id);
  sent.says([{ of: `action ${action.id}`, is: 'expiresAt' in input ? '*' : 'there' }]);
};

/** Whether it changes nothing when it comes again. */
export function isKeyed({ do: what, c }: Numbers & { readonly do: OperationName }): boolean {
  const isInteraction = what === 'like' || what === 'react' || what === 'reshare';
  return what === 'publish' || what === 'comment' || (isInteraction && c % 3 === 0);
}

const interact =
  (kind: 'LIKE' | 'COMMENT' | 'REACTION' | 'RESHARE'): Run =>
  async (process, stage, sent) => {
    const [actionId, actorId] = [actionOf(stage, sent), by(stage, sent)];
    const input = {
      ...{ actionId, kind, reaction: kind === 'REACTION' ? '👍' : null },
      ...(kind === 'COMMENT' ? { text: `comment ${sent.key}` } : {}),
      ...(kind === 'COMMENT' && sent.c % 4 === 0 ? { mentions: [other(stage, sent)] } : {}),
      ...(kind === 'COMMENT' || sent.c % 3 === 0 ? { idempotencyKey: sent.key } : {}),
    };
    if (kind !== 'COMMENT') sent.says([{ of: `${kind} of ${actionId} by ${actorId}`, is: 'given' }]);
    const { interaction } = await process.services.addInteraction(process.session(actorId), input);
    stage.add('interactions', interaction.id);
    if (kind === 'COMMENT') sent.says([{ of: `interaction ${interaction.id}`, is: 'there' }]);
  };

const takeBack =
  (kind: 'LIKE' | 'REACTION' | 'RESHARE'): Run =>
  async (process, stage, sent) => {
    const [actionId, actorId] = [actionOf(stage, sent), by(stage, sent)];
    const own = { actionId, kind, reaction: kind === 'REACTION' ? '👍' : null };
    sent.says([{ of: `${kind} of ${actionId} by ${actorId}`, is: 'taken back' }]);
    await process.services.removeInteraction(process.session(actorId), { own });
  };

/** As an admin. */
const moderate =
  (what: 'hideAction' | 'unhideAction'): Run =>
  async (process, stage, sent) => {
    const id = actionOf(stage, sent);
    sent.says([{ of: `action ${id} shown`, is: what === 'hideAction' ? 'no' : 'yes' }]);
    const admin = process.session('root', 'admin');
    if (what === 'hideAction') await process.services.hideAction(admin, id, 'Because');
    else await process.services.unhideAction(admin, id);
  };

const moderateInteraction =
  (isHidden: boolean): Run =>
  async (process, stage, sent) => {
    const id = interactionOf(stage, sent);
    const admin = process.session('root', 'admin');
    if (isHidden) await process.services.hideInteraction(admin, id, 'Because');
    else await process.services.unhideInteraction(admin, id);
  };

const edit: Run = async (process, stage, sent) => {
  const id = actionOf(stage, sent);
  const input = pick(
    [
      { scope: 'PUBLIC' },
      { scope: 'FOLLOWERS' },
      { mentions: [other(stage, sent)] },
      { mentions: [] },
      { recipients: [other(stage, sent)] },
      { recipients: [], mentions: [] },
      { refs: [{ id: pick(SITES, sent.b) ?? '', type: 'site', label: 'Site' }] },
      { expiresAt: new Date(process.now() + 1_500) },
    ],
    sent.c,
  );
  if (input !== nobody && 'expiresAt' in input) sent.says([{ of: `action ${id}`, is: '*' }]);
  await process.services.updateAction(process.session('root', 'admin'), id, input ?? {});
};

const follow: Run = async (process, stage, sent) => {
  const [followerId, refId] = [by(stage, sent), followed(stage, sent)];
  sent.says([{ of: `follow of ${refId} by ${followerId}`, is: 'open' }]);
  await process.services.follow(process.session(followerId), refId, pick([0, 2, 100], sent.a));
};

const unfollow: Run = async (process, stage, sent) => {
  const [followerId, refId] = [by(stage, sent), followed(stage, sent)];
  sent.says([{ of: `follow of ${refId} by ${followerId}`, is: 'closed' }]);
  await process.services.unfollow(process.session(followerId), refId, sent.a % 2 === 0);
};

const mute =
  (isMute: boolean): Run =>
  async (process, stage, sent) => {
    const [userId, memberId] = [by(stage, sent), other(stage, sent)];
    sent.says([{ of: `mute of ${memberId} by ${userId}`, is: isMute ? 'there' : 'gone' }]);
    if (isMute) await process.services.addMute(process.session(userId), { memberId });
    else await process.services.removeMute(process.session(userId), { memberId });
  };

const block =
  (isBlock: boolean): Run =>
  async (process, stage, sent) => {
    const [userId, memberId] = [by(stage, sent), other(stage, sent)];
    sent.says([
      { of: `block of ${memberId} by ${userId}`, is: isBlock ? 'there' : 'gone' },
      { of: `follow of ${memberId} by ${userId}`, is: '*' },
      { of: `follow of ${userId} by ${memberId}`, is: '*' },
    ]);
    if (isBlock) await process.services.blockMember(process.session(userId), memberId);
    else await process.services.unblockMember(process.session(userId), memberId);
  };

const state =
  (what: keyof typeof STATES): Run =>
  async (process, stage, sent) => {
    const [userId, id] = [by(stage, sent), actionOf(stage, sent)];
    const session = process.session(userId);
    sent.says([{ of: `state of ${id} for ${userId}`, is: STATES[what] }]);
    if (what === 'snoozeFeedItem')
      await process.services.snoozeFeedItem(session, id, new Date(process.now() + 1_000 + sent.c * 5));
    else await process.services[what](session, id);
  };

/** What each makes of an item. */
const STATES = {
  hideFeedItem: 'HIDDEN',
  unhideFeedItem: 'not HIDDEN',
  archiveFeedItem: 'ARCHIVED',
  unarchiveFeedItem: 'not ARCHIVED',
  snoozeFeedItem: 'SNOOZED',
  unsnoozeFeedItem: 'not SNOOZED',
} as const;

const markRead: Run = async (process, stage, sent) => {
  await process.services.markFeedRead(process.session(by(stage, sent)), new Date(process.now()));
};

/** What comes after a mark, in one process, is later than it, be it within a millisecond. */
const readThenComment: Run = async (process, stage, sent) => {
  const [actionId, mark] = [actionOf(stage, sent), process.now()];
  await process.services.markFeedRead(process.session(by(stage, sent)), new Date(mark));
  const input = { actionId, kind: 'COMMENT', text: `comment ${sent.key}`, idempotencyKey: sent.key } as const;
  const author = process.session(other(stage, sent));
  const { interaction, isReplay } = await process.services.addInteraction(author, input);
  stage.add('interactions', interaction.id);
  sent.says([{ of: `interaction ${interaction.id}`, is: 'there' }]);
  if (!isReplay && interaction.at.getTime() <= mark)
    throw new Error('A comment after a mark counts as read before');
};

const markItem =
  (what: 'markItemsRead' | 'markItemsUnread'): Run =>
  async (process, stage, sent) => {
    await process.services[what](process.session(by(stage, sent)), [actionOf(stage, sent)]);
  };

const report: Run = async (process, stage, sent) => {
  const userId = by(stage, sent);
  const isAction = sent.b % 3 > 0;
  if (isAction) sent.says([{ of: `action ${actionOf(stage, sent)} shown`, is: '*' }]);
  await process.services.report(process.session(userId), {
    actionId: isAction ? actionOf(stage, sent) : null,
    interactionId: isAction ? null : interactionOf(stage, sent),
    ...{ memberId: null, reason: 'rude' },
  });
};

/** Members who only report. */
export const STRANGERS = ['stranger-0', 'stranger-1', 'stranger-2', 'stranger-3'];

/** Two strangers, one after the other: enough of them hide it. */
const reportByMany: Run = async (process, stage, sent) => {
  const actionId = actionOf(stage, sent);
  sent.says([{ of: `action ${actionId} shown`, is: '*' }]);
  for (const stranger of sent.c % 2 === 0 ? STRANGERS.slice(0, 2) : STRANGERS.slice(2))
    await process.services.report(process.session(stranger), {
      ...{ actionId, interactionId: null, memberId: null, reason: 'rude' },
    });
};

const resolve =
  (isDismissed: boolean): Run =>
  async (process, _stage, sent) => {
    const moderator = process.session('moderator', 'moderator');
    const { edges } = await process.services.readReports(moderator, { first: 10, state: 'OPEN' });
    const found = pick(edges, sent.a)?.node;
    if (found === undefined) throw new Nothing();
    await process.services.resolveReport(moderator, found.id, { outcome: 'Looked at', isDismissed });
  };

const move: Run = async (process, stage, sent) => {
  const memberId = by(stage, sent);
  const given = {
    teamId: pick([...TEAMS, null], sent.b) ?? null,
    departmentId: pick(['d0', null], sent.c) ?? null,
  };
  sent.says([{ of: `team of ${memberId}`, is: String(given.teamId) }]);
  await process.services.upsertMembers(process.identity('importer', 'service'), [
    { memberId, name: memberId, ...given, supervisorId: sent.a % 2 === 0 ? other(stage, sent) : null },
  ]);
};

const remove: Run = async (process, stage, sent) => {
  const id = actionOf(stage, sent);
  sent.says([{ of: `action ${id}`, is: 'deleted' }]);
  await process.services.deleteAction(process.session('root', 'admin'), id);
};

const look: Run = async (process, stage, sent) => {
  await process.services.readFeed(process.session(by(stage, sent)), { first: 3, withUnread: true });
};

const watch: Run = (_process, stage, sent) => {
  stage.watch(by(stage, sent));
  return Promise.resolve();
};

const rebuild: Run = async (process, stage, sent) => {
  await process.services.rebuildFeed(process.identity('root', 'admin'), by(stage, sent));
};

const bookmark =
  (isKept: boolean): Run =>
  async (process, stage, sent) => {
    const [userId, id] = [by(stage, sent), actionOf(stage, sent)];
    sent.says([{ of: `bookmark of ${id} by ${userId}`, is: isKept ? 'there' : 'gone' }]);
    if (isKept) await process.services.bookmark(process.session(userId), id);
    else await process.services.unbookmark(process.session(userId), id);
  };

/** All that members, moderators and hosts do, and how often. */
export const OPERATIONS = {
  publish: { weight: 12, run: publish },
  comment: { weight: 8, run: interact('COMMENT') },
  like: { weight: 6, run: interact('LIKE') },
  unlike: { weight: 4, run: takeBack('LIKE') },
  react: { weight: 3, run: interact('REACTION') },
  unreact: { weight: 2, run: takeBack('REACTION') },
  reshare: { weight: 5, run: interact('RESHARE') },
  unshare: { weight: 3, run: takeBack('RESHARE') },
  edit: { weight: 6, run: edit },
  hide: { weight: 4, run: moderate('hideAction') },
  unhide: { weight: 4, run: moderate('unhideAction') },
  remove: { weight: 2, run: remove },
  hideComment: { weight: 3, run: moderateInteraction(true) },
  unhideComment: { weight: 3, run: moderateInteraction(false) },
  follow: { weight: 8, run: follow },
  unfollow: { weight: 6, run: unfollow },
  mute: { weight: 3, run: mute(true) },
  unmute: { weight: 3, run: mute(false) },
  block: { weight: 4, run: block(true) },
  unblock: { weight: 3, run: block(false) },
  hideItem: { weight: 3, run: state('hideFeedItem') },
  unhideItem: { weight: 2, run: state('unhideFeedItem') },
  archiveItem: { weight: 2, run: state('archiveFeedItem') },
  unarchiveItem: { weight: 2, run: state('unarchiveFeedItem') },
  snoozeItem: { weight: 2, run: state('snoozeFeedItem') },
  unsnoozeItem: { weight: 1, run: state('unsnoozeFeedItem') },
  markRead: { weight: 6, run: markRead },
  readThenComment: { weight: 1, run: readThenComment },
  markItemRead: { weight: 3, run: markItem('markItemsRead') },
  markItemUnread: { weight: 2, run: markItem('markItemsUnread') },
  report: { weight: 5, run: report },
  reportByMany: { weight: 3, run: reportByMany },
  dismiss: { weight: 3, run: resolve(true) },
  uphold: { weight: 2, run: resolve(false) },
  move: { weight: 4, run: move },
  bookmark: { weight: 1, run: bookmark(true) },
  unbookmark: { weight: 1, run: bookmark(false) },
  look: { weight: 4, run: look },
  rebuild: { weight: 1, run: rebuild },
  watch: { weight: 2, run: watch },
} as const satisfies Readonly<Record<string, { readonly weight: number; readonly run: Run }>>;

export type OperationName = keyof typeof OPERATIONS;
