import type { Mutation } from '../bundle.ts';

/** A fault that is put back into the sources to see whether simulations find it. */
export interface Fault extends Mutation {
  readonly name: string;
  /** A fault that there was, or a condition that is left out. */
  readonly of: 'the changelog' | 'a condition';
}

const SETTLE = 'src/features/interactions/settle-interaction.ts';
const REPORTS = 'src/features/reports/store.ts';
const FAN_OUTS = 'src/fan-out/store/fan-outs.ts';
const ENDS = 'src/fan-out/store/fan-out-ends.ts';
const STAGES = 'src/storage/stages/fan-out-stages.ts';
const LEASE = 'src/storage/database/lease.ts';

export const FAULTS: readonly Fault[] = [
  {
    name: 'a third report and a dismissal at the same time: the later ruling loses',
    of: 'the changelog',
    file: 'src/features/moderation/store/moderation.ts',
    from: 'const isNext: Filter<ActionDocument> = { ruling: { $not: { $gte: number } } };',
    to: 'const isNext: Filter<ActionDocument> = {};',
  },
  {
    name: 'what reports hide is in the queue: a resolved report that is hidden again does not open',
    of: 'the changelog',
    file: REPORTS,
    from: "state: { $cond: [IS_OVER, 'OPEN', { $ifNull: ['$state', 'OPEN'] }] },\n        version: { $max: ['$version', version] },\n        ruling: ruled('WITHHELD', at, isTooMuch),",
    to: "state: { $ifNull: ['$state', 'OPEN'] },\n        version: { $max: ['$version', version] },\n        ruling: ruled('WITHHELD', at, isTooMuch),",
  },
  {
    name: 'reports of what a moderator has looked at hide it again',
    of: 'the changelog',
    file: REPORTS,
    from: ': { $and: [{ $lt: [REVIEWED, version] }, { $gte: [undecided, hideAfter] }] };',
    to: ': { $gte: [undecided, hideAfter] };',
  },
  {
    name: 'a comment while somebody begins to watch: watchers are not looked for after the raise',
    of: 'the changelog',
    file: SETTLE,
    from: 'if (!(await isWatched(core, isFew ? readers : null))) return now;',
    to: 'if (core.cap > 0) return now;',
  },
  {
    name: 'a follow on its way while a block begins stays',
    of: 'the changelog',
    file: 'src/features/follow/settle-follows.ts',
    from: 'for (const { userId, otherId } of blocked) {',
    to: 'for (const { userId, otherId } of blocked.slice(0, 0)) {',
  },
  {
    name: 'a mark and an arrival in one millisecond: what comes later counts as read',
    of: 'the changelog',
    file: 'src/lib/clock.ts',
    from: 'if (at.getTime() === this.#last && lead < MAX_STANDSTILL_MS / 2) this.#last += 1;',
    to: 'if (lead > MAX_STANDSTILL_MS) this.#last += 1;',
  },
  {
    name: 'counts go back: a pass writes what it derived although something is on its way',
    of: 'the changelog',
    file: 'src/fan-out/derive-counts.ts',
    from: 'if (ageMs > ABANDONED_AFTER_MS)',
    to: 'if (ageMs >= 0)',
  },
  {
    name: 'counts stay wrong after a change that was on its way for long',
    of: 'the changelog',
    file: SETTLE,
    from: 'return isLate ? mark',
    to: 'return isLate && core.cap < 0 ? mark',
  },
  {
    name: 'counts go back: what was derived is written over what has changed since the claim',
    of: 'the changelog',
    file: FAN_OUTS,
    from: "{ ...ownedBy(claim), 'fanOut.version': claim.action.fanOut.version },\n        revised({ $set: { engagement:",
    to: '{ ...ownedBy(claim) },\n        revised({ $set: { engagement:',
  },
  {
    name: 'an interaction that needs no pass is counted although a pass may have counted it',
    of: 'the changelog',
    file: 'src/features/interactions/store/engagement.ts',
    from: "'fanOut.doneAt': { $lt: new Date(Math.min(...passes)) },",
    to: "'fanOut.doneAt': { $exists: true },",
  },
  {
    name: 'an interaction that needs no pass does not look whose feed may lack the action',
    of: 'the changelog',
    file: SETTLE,
    from: 'if (isMore || isLacking) return mark',
    to: 'if (isMore) return mark',
  },
  {
    name: 'a follow that is taken up again is news each time',
    of: 'the changelog',
    file: 'src/features/follow/store/follows.ts',
    from: '$cond: [{ $or: [IS_OPEN, isNews] },',
    to: '$cond: [{ $or: [IS_OPEN] },',
  },
  {
    name: 'what a member does during a block lifts items for the other',
    of: 'the changelog',
    file: 'src/features/interactions/store/interaction-records.ts',
    from: '...(interaction.notFor.length === 0 ? {} : { notFor: [...interaction.notFor] }),',
    to: '',
  },
  {
    name: 'what is shown again comes in where it had been',
    of: 'the changelog',
    file: 'src/features/moderation/store/moderation.ts',
    from: "...{ shownAt: at, namedAt: at, latest: { $max: ['$latest', at] }, isBumped: true },",
    to: "...{ latest: { $max: ['$latest', at] }, isBumped: true },",
  },
  {
    name: 'a comment that is shown again stands where it says it happened',
    of: 'the changelog',
    file: 'src/features/interactions/store/interaction-records.ts',
    from: "return kind === 'HIDE_INTERACTION' ? { state: 'HIDDEN' } : { shownAt: at };",
    to: "return kind === 'HIDE_INTERACTION' ? { state: 'HIDDEN' } : {};",
  },
  {
    name: 'a feed that is filled keeps what an edit has put lower meanwhile',
    of: 'the changelog',
    file: 'src/feed/reconcile-feed.ts',
    from: 'if (outdated.length === 0) return;\n  const ids',
    to: 'if (outdated.length >= 0) return;\n  const ids',
  },
  {
    name: 'a deleted action is written again by a feed that is filled meanwhile',
    of: 'the changelog',
    file: 'src/feed/reconcile-feed.ts',
    from: "for (const id of added) if (!visible.has(id)) await fanOuts.requestPass(id, clock.now(), 'URGENT');",
    to: '',
  },
  {
    name: 'a deleted action is changed by an interaction that was on its way',
    of: 'the changelog',
    file: 'src/features/interactions/store/engagement.ts',
    from: '{ _id: new ObjectId(id), isDeleted: false },',
    to: '{ _id: new ObjectId(id) },',
  },
  {
    name: 'events of what was moved to the log twice have new ids',
    of: 'the changelog',
    file: 'parts/events/src/jobs/event-mover.ts',
    from: 'await batch.taken();',
    to: '',
  },
  {
    name: 'a publication that is sent again is recorded twice',
    of: 'the changelog',
    file: 'src/features/publish/publish-action.ts',
    from: 'quota.recorded = published.isReplay ? 0 : 1;',
    to: 'quota.recorded = published.isReplay ? 0 : 1; if (published.isReplay) await record(core, [{ ...action, idempotencyKey: null } as never]);',
  },
  {
    name: 'a reaction that is given again with the key of before comes back',
    of: 'the changelog',
    file: 'src/features/interactions/store/interaction-records.ts',
    from: "const isAgain = { $and: [{ $eq: ['$state', 'REMOVED'] }, { $not: [isReplay] }] };",
    to: "const isAgain = { $eq: ['$state', 'REMOVED'] };",
  },
  {
    name: 'lease: what is due is taken from who has it',
    of: 'a condition',
    file: LEASE,
    from: 'return { [`${field}.due`]: { $exists: true, $lte: now } };',
    to: 'return { [`${field}.due`]: { $exists: true, $lte: new Date(now.getTime() + 60_000) } };',
  },
  {
    name: 'lease: one that always has work is taken from who has it',
    of: 'a condition',
    file: LEASE,
    from: 'const isFree = [{ [owner]: token }, { [due]: { $not: { $gt: now } } }];',
    to: 'const isFree = [{ [owner]: token }, { [due]: { $exists: true } }];',
  },
  {
    name: 'lease: a void claim is released',
    of: 'a condition',
    file: LEASE,
    from: 'const held = ({ id, token }: Held<Id>): Filter<D> => ({ _id: id, [owner]: token });',
    to: 'const held = ({ id, token }: Held<Id>): Filter<D> => ({ _id: id, [owner]: { $ne: `${token}!` } });',
  },
  {
    name: 'fan-out: an action is claimed from who has it',
    of: 'a condition',
    file: FAN_OUTS,
    from: ': await collection.findOneAndUpdate({ ...due, _id }, unrevised(update), {',
    to: ": await collection.findOneAndUpdate({ _id, 'fanOut.leaseUntil': { $exists: true } }, unrevised(update), {",
  },
  {
    name: 'fan-out: a pass ends although the action has changed',
    of: 'a condition',
    file: ENDS,
    from: "const filter = { 'fanOut.state': 'IN_PROGRESS' as const, 'fanOut.version': claim.version };",
    to: "const filter = { 'fanOut.state': 'IN_PROGRESS' as const };",
  },
  {
    name: 'fan-out: what has lifted the action during the pass is forgotten',
    of: 'a condition',
    file: ENDS,
    from: "'fanOut.lifts': liftsSince(claim),",
    to: "'fanOut.lifts': '$$REMOVE',",
  },
  {
    name: 'fan-out: audiences before edits during the pass are forgotten',
    of: 'a condition',
    file: ENDS,
    from: "'fanOut.former': formerSince(claim),",
    to: "'fanOut.former': '$$REMOVE',",
  },
  {
    name: 'fan-out: a change during a pass is not noticed as one',
    of: 'a condition',
    file: ENDS,
    from: "$cond: [{ $gt: ['$fanOut.changedVersion', claim.version] }, '$$REMOVE', claim.version],",
    to: "$cond: [false, '$$REMOVE', claim.version],",
  },
  {
    name: 'stages: a pass that is requested takes the action from its worker',
    of: 'a condition',
    file: STAGES,
    from: "'fanOut.state': { $cond: [isWorkedOn, 'IN_PROGRESS', 'PENDING'] },",
    to: "'fanOut.state': 'PENDING',",
  },
  {
    name: 'stages: what is due later is claimed at once',
    of: 'a condition',
    file: STAGES,
    from: "{ $eq: ['$fanOut.state', 'PENDING'] },\n      { $eq: ['$fanOut.lane', 'LIVE'] },",
    to: "{ $eq: ['$fanOut.lane', 'LIVE'] },",
  },
  {
    name: 'stages: readers who lose the action by the end of a reshare are not looked for',
    of: 'a condition',
    file: 'src/storage/stages/interaction-stages.ts',
    from: "audienceRev: changed('$audienceRev', { $add: [AUDIENCE_NOW.rev, 1] }),",
    to: '',
  },
  {
    name: 'settle: a change is settled before its action is marked',
    of: 'a condition',
    file: SETTLE,
    from: 'const counted = begun === undefined ? null : await countAlone(core, interaction, change, begun);',
    to: 'await core.interactions.settle(actionId, settling);\n  const counted = begun === undefined ? null : await countAlone(core, interaction, change, begun);',
  },
  {
    name: 'settle: follows that were cut off are left',
    of: 'a condition',
    file: 'src/features/follow/store/follows.ts',
    from: "settling: { $ifNull: ['$settling', mark] },",
    to: "settling: { $ifNull: ['$$REMOVE', mark] },",
  },
  {
    name: 'rebuild: it ends although the feed has become due again',
    of: 'a condition',
    file: 'src/features/rebuild/store.ts',
    from: '{ ...leases.held(heldBy(claim)), rebuildVersion: claim.version },',
    to: '{ ...leases.held(heldBy(claim)) },',
  },
  {
    name: 'withdrawal: watchers are not notified by the pass',
    of: 'a condition',
    file: 'src/fan-out/fan-out-worker.ts',
    from: 'if (unnotifiedVersion !== null) await announceWithdrawalInPass(dependencies, action, clock.now());',
    to: '',
  },
];
