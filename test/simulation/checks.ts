import { ObjectId } from 'mongodb';
import { ID_MARK } from '../support/mingo.ts';
import type { Installation, Running } from './installation.ts';
import type { PromiseName, Promises } from './promises.ts';
import type { Records } from './records.ts';
import { wholeFeed, type Watcher } from './watcher.ts';

type Observer = Awaited<ReturnType<Installation['observer']>>;

/** What was found and should not be. */
export interface Problem {
  /** The promise that is broken. */
  readonly promise: PromiseName;
  readonly what: string;
}

export interface Checked {
  readonly observer: Observer;
  readonly apis: readonly Running[];
  readonly readers: readonly string[];
  readonly watchers: readonly Watcher[];
  readonly promises: Promises;
  /** What a host has read, event by event. */
  readonly hostEvents: readonly string[];
  /** The database has been away, or without space. */
  readonly isDatabaseOff: boolean;
  /** What has happened, as it was written. */
  readonly records: Records;
}

const COUNTED_TO = 100;
const isoOf = (time: number | undefined): string =>
  time === undefined ? 'no place' : new Date(time).toISOString().slice(11);

/** Compares what there is with what should be, when nothing is left to do. */
export async function problemsOf(checked: Checked): Promise<Problem[]> {
  const { collections } = checked.observer.core;
  const model = await checked.observer.referenceOf(collections, checked.readers);
  const problems: Problem[] = [];
  const note = (promise: PromiseName, what: string): void => void problems.push({ promise, what });
  for (const reader of model.readers) {
    const items = checked.observer.feedFor(model, reader);
    const expected = new Map(items.map(({ action, relevancy }) => [action.id, relevancy]));
    const unread = Math.min(COUNTED_TO, items.filter(({ isUnread }) => isUnread).length);
    for (const api of checked.apis) {
      const of = `of ${reader.userId} by ${api.machine.name}`;
      const feed = await wholeFeed(api, reader.userId);
      for (const line of differencesOf(feed, expected))
        note('feeds are as defined', `the feed ${of} ${line}`);
      const { count } = await api.services.countUnread(api.session(reader.userId));
      if (count !== unread)
        note('unread counts are as defined', `the count ${of} is ${String(count)}, not ${String(unread)}`);
      const listed = await notified(api, reader.userId);
      const concerns = checked.observer
        .notificationsFor(model, reader)
        .map(({ kind, at, actors, count: n, of: about }) =>
          [kind, kind === 'ASSIGNED' ? '' : about, isoOf(at), actors.join('+'), String(n)].join(' '),
        );
      for (const line of missingOf(listed, concerns))
        note('notifications are as defined', `notifications ${of} ${line}`);
    }
    for (const watcher of checked.watchers) {
      if (watcher.reader !== reader.userId) continue;
      for (const line of differencesOf(watcher.shown, expected))
        note('live lists equal pages', `the live list of ${reader.userId} ${line}`);
      if (watcher.unread !== unread)
        note(
          'live lists equal pages',
          `the live count of ${reader.userId} is ${String(watcher.unread)}, not ${String(unread)}`,
        );
    }
  }
  for (const watcher of checked.watchers)
    for (const fault of watcher.faults) note('events come in order', fault);
  for (const line of countDifferences(checked.observer, model, await collections.actions.find().toArray()))
    note('counts are those of what is recorded', line);
  for (const line of await undelivered(checked.observer))
    note('a worker may die at any point, and nothing is lost', line);
  for (const line of await brokenPromises(checked))
    note(
      checked.isDatabaseOff
        ? 'the database may be away or full, and nothing that was acknowledged is lost'
        : 'an API process may die, and nothing that was acknowledged is lost',
      line,
    );
  for (const line of await hostEventFaults(checked)) note('hosts get each event once', line);
  for (const line of await blockFaults(checked))
    note('a block ends follows, and nothing lifts across it', line);
  for (const line of await reportFaults(checked))
    note('what is hidden is in the queue or was hidden by a moderator', line);
  return problems;
}

function differencesOf(is: ReadonlyMap<string, number>, should: ReadonlyMap<string, number>): string[] {
  const lines = [...new Set([...is.keys(), ...should.keys()])].flatMap((id) =>
    is.get(id) === should.get(id)
      ? []
      : [`has ${id} at ${isoOf(is.get(id))}, not at ${isoOf(should.get(id))}`],
  );
  return lines;
}

function missingOf(is: readonly string[], should: readonly string[]): string[] {
  return [
    ...is.filter((one) => !should.includes(one)).map((one) => `has ${one}`),
    ...should.filter((one) => !is.includes(one)).map((one) => `lacks ${one}`),
  ];
}

async function notified(api: Running, reader: string): Promise<string[]> {
  const { edges } = await api.services.readNotifications(api.session(reader), { first: 100 });
  return edges.map(({ node: { group } }) => {
    const actors = [...new Set(group.events.flatMap(({ actorId }) => actorId ?? []))].sort();
    const about = group.kind === 'ASSIGNED' ? '' : (group.actionId ?? group.key.slice(7));
    return [group.kind, about, isoOf(group.at.getTime()), actors.join('+'), String(group.events.length)].join(
      ' ',
    );
  });
}

type Model = Awaited<ReturnType<Observer['referenceOf']>>;
interface Stored {
  readonly _id: ObjectId;
  readonly isHidden: boolean;
  readonly isDeleted: boolean;
  readonly engagement: {
    readonly comments: number;
    readonly likes: number;
    readonly reshares: number;
    readonly reactions?: Readonly<Record<string, number>>;
  };
}

function countDifferences(observer: Observer, model: Model, actions: readonly Stored[]): string[] {
  return actions.flatMap(({ _id, isHidden, isDeleted, engagement }) => {
    const id = _id.toHexString();
    const action = model.actions.find((one) => one.id === id);
    if (action === undefined || isDeleted) return [];
    const { comments, likes, reshares, reactions } = observer.engagementOf(action);
    const expected = { comments, likes, reshares, reactions: reactions.map(({ count }) => count).join() };
    const given = Object.values(engagement.reactions ?? {}).filter((count) => count > 0);
    const actual = {
      ...{ comments: engagement.comments, likes: engagement.likes, reshares: engagement.reshares },
      reactions: given.sort((a, b) => b - a).join(),
    };
    return [
      // Of what is hidden they are corrected by the pass that shows it again.
      ...(isHidden || JSON.stringify(actual) === JSON.stringify(expected)
        ? []
        : [`counts of ${id} are ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`]),
    ];
  });
}

/** Passes that have not ended well. That nothing is stored twice is what the key of items says. */
async function undelivered({ core: { collections } }: Observer): Promise<string[]> {
  const isOpen = { isDeleted: false, 'fanOut.state': { $ne: 'DONE' as const } };
  const actions = await collections.actions.find(isOpen).toArray();
  return actions.map(
    ({ _id, fanOut }) => `the fan-out of ${_id.toHexString()} is ${fanOut.state}: ${String(fanOut.error)}`,
  );
}

/** What was acknowledged, and is not so. */
async function brokenPromises({ observer, promises }: Checked): Promise<string[]> {
  const broken: string[] = [];
  for (const { of, allowed } of promises.now()) {
    const is = await valueOf(observer, of);
    if (is !== null && !allowed.some((one) => isSame(is, one)))
      broken.push(`${of} is ${is}, and was acknowledged to be ${allowed.join(' or ')}`);
  }
  return broken;
}

/** An item that is in one state is in no other. */
function isSame(is: string, allowed: string): boolean {
  if (allowed.startsWith('not ')) return is !== allowed.slice(4);
  return is === allowed || (allowed === 'SNOOZED' && is === 'none');
}

/** `null`: it cannot be sent any more. */
async function valueOf(observer: Observer, of: string): Promise<string | null> {
  const { collections } = observer.core;
  const [, what = ''] = /^(\S+)/.exec(of) ?? [];
  const [, actionId = ''] = /\b([0-9a-f]{24})\b/.exec(of) ?? [];
  const action = actionId === '' ? null : await collections.actions.findOne({ _id: new ObjectId(actionId) });
  if (what === 'interaction')
    return (await collections.interactions.findOne({ _id: new ObjectId(actionId) })) === null
      ? await goneOrDeleted()
      : 'there';
  if (what === 'action' && !of.endsWith('shown'))
    return action === null ? 'nowhere' : action.isDeleted ? 'deleted' : 'there';
  if (actionId !== '' && (action === null || action.isDeleted)) return null;
  if (what === 'action') return action?.isHidden === true ? 'no' : 'yes';
  const [, named = '', by = ''] = / of (\S+) (?:by|for) (\S+)$/.exec(of) ?? [];
  switch (what) {
    case 'LIKE':
    case 'REACTION':
    case 'RESHARE': {
      const found = await collections.interactions.findOne({
        actionId: new ObjectId(actionId),
        kind: what,
        actorId: by,
      });
      return found === null || found.state === 'REMOVED' ? 'taken back' : 'given';
    }
    case 'follow':
      return (await collections.follows.findOne({ followerId: by, refId: named }))?.active === true
        ? 'open'
        : 'closed';
    case 'mute': {
      const mutes = (await collections.feeds.findOne({ _id: by }))?.mutes ?? [];
      return mutes.some(({ value }) => value === named) ? 'there' : 'gone';
    }
    case 'block':
      return (await collections.blocks.findOne({ _id: { userId: by, otherId: named } }))?.own === undefined
        ? 'gone'
        : 'there';
    case 'bookmark': {
      const found = await collections.bookmarks.findOne({
        '_id.userId': by,
        '_id.actionId': new ObjectId(named),
      });
      return found === null ? 'gone' : 'there';
    }
    case 'state': {
      const mark = await collections.itemMarks.findOne({
        '_id.userId': by,
        '_id.actionId': new ObjectId(named),
      });
      // What has come back keeps where it stood.
      const isOver = mark?.until !== undefined && mark.until.getTime() <= observer.now();
      return isOver ? 'none' : (mark?.state ?? 'none');
    }
    case 'team':
      return String(
        (await collections.members.findOne({ _id: of.slice('team of '.length) }))?.teamId ?? null,
      );
    default:
      throw new Error(`Nobody knows how to look up "${of}"`);
  }

  /** Of a deleted action nothing is kept. */
  async function goneOrDeleted(): Promise<string | null> {
    const isOfDeleted = (await collections.actions.countDocuments({ isDeleted: true })) > 0;
    return isOfDeleted ? null : 'nowhere';
  }
}

/** A follow beside a block, and interactions that were given while there was one and do not say so. */
async function blockFaults({ observer, promises }: Checked): Promise<string[]> {
  const { collections } = observer.core;
  const faults: string[] = [];
  const blocks = await collections.blocks.find({ own: { $exists: true } }).toArray();
  for (const { userId, otherId } of blocks.map(({ _id }) => _id))
    for (const [followerId, refId] of [
      [userId, otherId],
      [otherId, userId],
    ] as const) {
      const follow = await collections.follows.findOne({ followerId, refId, active: true });
      // To whom is blocked it seems to work, and it brings nothing.
      if (follow !== null && followerId === userId)
        faults.push(`${followerId} follows ${refId}, and blocks them`);
    }
  const members = await collections.members.find().toArray();
  for (const { of, from, until } of promises.acknowledged('interaction ')) {
    const _id = new ObjectId(of.slice('interaction '.length));
    const found = await collections.interactions.findOne({ _id });
    if (found === null) continue;
    for (const { _id: otherId } of members) {
      const pair = [found.actorId, otherId];
      const isBlocked = [pair, pair.toReversed()].some(([who = '', whom = '']) => {
        const was = promises.during(`block of ${whom} by ${who}`, from, until);
        return was.size === 1 && was.has('there');
      });
      if (isBlocked && found.notFor?.includes(observer.blockTag(otherId)) !== true)
        faults.push(`${of} of ${found.actorId} lifts something for ${otherId}, beside a block`);
    }
  }
  return faults;
}

async function hostEventFaults({ observer, hostEvents, records }: Checked): Promise<string[]> {
  const { collections } = observer.core;
  const stored = await collections.hostEvents.find().sort({ seq: 1 }).toArray();
  const faults: string[] = [];
  const ids = stored.map(({ _id }) => _id);
  if (hostEvents.join() !== ids.join())
    faults.push(
      `a host has read ${String(hostEvents.length)} events, and ${String(ids.length)} are stored: ${firstDifference(hostEvents, ids)}`,
    );
  for (const [index, { seq }] of stored.entries())
    if (seq !== index + 1) faults.push(`the event in place ${String(index + 1)} has number ${String(seq)}`);
  const sent = new Map<string, number>();
  for (const { type, facts } of stored) {
    const { interactionId, actionId, followId, reportId } = facts;
    const id = type.startsWith('action.') ? actionId : (followId ?? reportId ?? interactionId);
    const key = `${type} ${ID_MARK}${String(id)}`;
    sent.set(key, (sent.get(key) ?? 0) + 1);
  }
  for (const [key, count] of records.happened)
    if (sent.get(key) !== count)
      faults.push(`${key} has happened ${String(count)} times, and hosts got ${String(sent.get(key) ?? 0)}`);
  return faults;
}

function firstDifference(a: readonly string[], b: readonly string[]): string {
  const at = a.findIndex((one, index) => one !== b[index]);
  const place = at === -1 ? a.length : at;
  return `from ${String(place)} on ${String(a[place])}, not ${String(b[place])}`;
}

/** The last ruling of the queue holds, unless a moderator has decided since: then the queue has nothing to say. */
async function reportFaults({ observer }: Checked): Promise<string[]> {
  const { collections } = observer.core;
  const faults: string[] = [];
  const actions = await collections.actions.find({ isDeleted: false }).toArray();
  const interactions = await collections.interactions.find({ state: { $ne: 'REMOVED' } }).toArray();
  const contents = [
    ...actions.map(({ _id, isHidden, isWithheld }) => ({
      target: `action:${_id.toHexString()}`,
      isHidden,
      isWithheld,
    })),
    ...interactions.map(({ _id, state, isWithheld }) => ({
      ...{ target: `interaction:${_id.toHexString()}`, isHidden: state === 'HIDDEN', isWithheld },
    })),
  ];
  for (const { target, isHidden, isWithheld } of contents) {
    const report = await collections.reports.findOne({ target });
    const isInQueue = report !== null && (report.state === 'OPEN' || report.state === 'TAKEN');
    if (isHidden && isWithheld === true && !isInQueue)
      faults.push(`${target} is hidden until somebody looks, and in no queue`);
    const verdict = report?.ruling?.verdict;
    if (verdict === 'WITHHELD' && !isHidden) faults.push(`${target} is shown, and was withheld last`);
    if (verdict === 'SHOWN' && isHidden && isWithheld === true)
      faults.push(`${target} is withheld, and was to be shown last`);
  }
  return faults;
}
