import { inTurns, upTo } from '../../storage/database/batches.ts';
import { ObjectId, type Collection, type Document, type Filter } from 'mongodb';
import { withoutSubject } from '../../descriptors/anonymise.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import {
  MAX_REPORTERS,
  type Report,
  type Reported,
  type ReportState,
  type ReportTarget,
  type Verdict,
} from '../../domain/report.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import type { InteractionId } from '../../domain/interaction.ts';
import { fieldBeside } from '../../domain/stored-id.ts';
import { clock } from '../../lib/clock.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Declared, index, indexWithin, UNSENT } from '../../storage/documents/declaration.ts';
import type { UnsentEvents } from '../../storage/documents/event-documents.ts';
import { type EventEntries, NO_EVENTS } from '../../storage/stages/event-entries.ts';
import { literal } from '../../storage/stages/revision.ts';
import { beyond, type Stretch, turned } from '../../storage/documents/keyset.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly reports: ReturnType<typeof reportsRepository>;
  }
}

export interface ReportDocument extends UnsentEvents {
  _id: ObjectId;
  /** The reported thing: `action:`, `interaction:` or `user:` and its id. */
  target: string;
  tenant?: string;
  /** The action, or the one with the interaction. Absent for members. */
  actionId?: ObjectId;
  interactionId?: ObjectId;
  /** The author of the content, or the reported member. */
  actorId: string;
  state: ReportState;
  /** The oldest first. One for each member and each version that a moderator has decided about, and one for the rest. */
  reports: { by: string; at: Date; version: number; reason: string; text?: string }[];
  /** Number of reports since it was last resolved: the last of them. */
  open: number;
  /** The first of them. */
  openedAt: Date;
  /** When somebody last reported it, by the clock of the database. Absent: it has only been held. */
  reportedAt?: Date;
  /** The newest version that was reported or held. */
  version: number;
  /** Somebody has looked at it up to this version: reports of what was there do not hide it any more. */
  reviewed?: number;
  /** Whether it is shown, if that was ever decided here: reported by many, or held by the host application. */
  ruling?: RulingDocument;
  takenBy?: string;
  resolvedBy?: string;
  resolvedAt?: Date;
  outcome?: string;
}

interface RulingDocument {
  /** Rises by one with each. */
  number: number;
  verdict: Verdict;
  /** When it was made. Absent: it has been carried out. */
  dueSince?: Date;
}

declare module '../../storage/documents/declaration.ts' {
  interface Documents {
    readonly reports: ReportDocument;
  }
}

const BY_SIZE_AND_AGE = { open: -1, openedAt: 1, _id: 1 } as const;

export const REPORTS: Declared<'reports'> = {
  name: 'reports',
  holds: 'what members have reported of an action, interaction or member, and what became of it',
  ids: { member: ['reports[].by', 'actorId', 'takenBy', 'resolvedBy'], key: ['target'] },
  indexes: [
    index('target', { target: 1 }, 'the reports of something', { unique: true }),
    index('queue', { state: 1, ...BY_SIZE_AND_AGE }, 'reports in a state, by number and age'),
    index('all', BY_SIZE_AND_AGE, 'all reports, by number and age'),
    indexWithin('queue', { state: 1, ...BY_SIZE_AND_AGE }, 'reports in a state, by number and age'),
    indexWithin('all', BY_SIZE_AND_AGE, 'all reports, by number and age'),
    index('reported', { reportedAt: 1 }, 'paging in reports: what has been reported since the first page'),
    indexWithin(
      'reported',
      { reportedAt: 1 },
      'paging in reports: what has been reported since the first page',
    ),
    index('reporter', { 'reports.by': 1 }, 'erasure and export: what somebody has reported'),
    index('actor', { actorId: 1 }, 'what of somebody waits for review; erasure: what was reported of them'),
    index('taken', { takenBy: 1 }, 'erasure: what somebody has taken', { sparse: true }),
    index('resolved', { resolvedBy: 1 }, 'erasure: what somebody has resolved', { sparse: true }),
    index('ruled', { 'ruling.dueSince': 1 }, 'upkeep: rulings that were not carried out', {
      partialFilterExpression: { 'ruling.dueSince': { $exists: true } },
    }),
    index('action', { actionId: 1 }, 'archive: reports of an action', { sparse: true }),
    UNSENT,
  ],
  shard: { because: 'written when something is reported' },
  erase: ['REPORTS'],
  export: [
    {
      section: 'reports',
      of: 'reports[].by',
      entry: ({ _id, target, state, reports }, memberId) => ({
        ...{ id: _id.toHexString(), target, state },
        reports: reports.filter(({ by }) => by === memberId).map(({ by: _by, ...report }) => report),
      }),
    },
  ],
  action: {
    id: 'actionId',
    purge: { because: 'says what was reported and done, also to what is deleted' },
    erased: (document, subject) => withoutMember(document, subject),
  },
};

/** As an erasure leaves it: the member's own reports are gone, and so is who the member was. */
function withoutMember(document: ReportDocument, subject: ErasureSubject): ReportDocument {
  const { memberId, pseudonym } = subject;
  const plain = (words: string): string => withoutSubject(words, subject) ?? '';
  const reports = document.reports
    .filter(({ by }) => by !== memberId)
    .map(({ text, ...report }) => ({
      ...report,
      reason: plain(report.reason),
      ...(text === undefined ? {} : { text: plain(text) }),
    }));
  const { actorId, takenBy, resolvedBy, outcome } = document;
  const put = (id: string): string => (id === memberId ? pseudonym : id);
  const open = openOf(document).filter(({ by }) => by !== memberId).length;
  return {
    ...document,
    reports,
    ...(open === 0 && isLeftEmpty(document) ? { state: 'DISMISSED', resolvedAt: clock.now() } : {}),
    open,
    actorId: put(actorId),
    target: document.target === `user:${memberId}` ? `user:${pseudonym}` : document.target,
    ...(takenBy === undefined ? {} : { takenBy: put(takenBy) }),
    ...(resolvedBy === undefined ? {} : { resolvedBy: put(resolvedBy) }),
    ...(outcome === undefined ? {} : { outcome: plain(outcome) }),
  };
}

function openOf({ reports, open }: ReportDocument): ReportDocument['reports'] {
  return open === 0 ? [] : reports.slice(-open);
}

/** With its last report gone, nobody has to look any more, unless it is hidden until somebody does. */
function isLeftEmpty({ open, state, ruling }: ReportDocument): boolean {
  return open > 0 && (state === 'OPEN' || state === 'TAKEN') && ruling?.verdict !== 'WITHHELD';
}

/** A place in the list as it was when its first page was read: what is reported meanwhile keeps its place. */
export interface ReportPosition {
  readonly open: number;
  readonly openedAt: Date;
  readonly id: string;
  /** When the first page was read, by the clock of the database. */
  readonly asOf: Date;
}

export interface ListedReport extends ReportPosition {
  readonly report: Report;
}

/** Carries out decisions whether something is shown. Part of the repository of reports. */
function rulings(
  collection: Collection<ReportDocument>,
  apply: (filter: Filter<ReportDocument>, set: Document) => Promise<Report | null>,
) {
  return {
    /**
     * Content that a moderator shows again is not hidden by reports any more; content that was only held is done. Content that a moderator
     * hides is withheld no more, and taken by them. `null`, and no write, if it was not withheld.
     */
    async release(
      target: Pick<ReportTarget, 'kind'> & { readonly id: string },
      verdict: 'SHOWN' | 'HIDDEN',
      by: UserId,
      at: Date,
    ): Promise<Report | null> {
      const withheld: Filter<ReportDocument> = {
        ...{ target: `${target.kind}:${target.id}`, 'ruling.verdict': 'WITHHELD' },
      };
      // A look, since this is rare.
      if ((await collection.countDocuments(withheld, { limit: 1 })) === 0) return null;
      const ruling = { reviewed: '$version', ruling: ruled(verdict, at) };
      if (verdict === 'HIDDEN') return apply(withheld, { ...ruling, ...takenIfOpen(by) });
      const isHeldOnly = { $eq: [{ $size: '$reports' }, 0] };
      return apply(withheld, {
        ...ruling,
        state: { $cond: [isHeldOnly, 'DISMISSED', '$state'] },
        resolvedBy: { $cond: [isHeldOnly, literal(by), { $ifNull: ['$resolvedBy', '$$REMOVE'] }] },
        resolvedAt: { $cond: [isHeldOnly, at, { $ifNull: ['$resolvedAt', '$$REMOVE'] }] },
      });
    },

    /** The ruling has been carried out. */
    async carriedOut({ id, ruling }: Report): Promise<void> {
      await collection.updateOne(
        { _id: new ObjectId(id), 'ruling.number': ruling?.number ?? 0 },
        { $unset: { 'ruling.dueSince': 1 as const } },
      );
    },

    /** Reports with rulings made before then that may not have been carried out, the oldest first. Index `ruled`. */
    async ruledBefore(
      before: Date,
      after: Date | null,
      limit: number,
    ): Promise<{ report: Report; dueSince: Date }[]> {
      const since = { $exists: true, $lt: before, ...(after === null ? {} : { $gt: after }) };
      const documents = await collection
        .find({ 'ruling.dueSince': since }, upTo(limit))
        .sort({ 'ruling.dueSince': 1 })
        .toArray();
      return documents.flatMap((document) => {
        const { dueSince } = document.ruling ?? {};
        return dueSince === undefined ? [] : [{ report: toReport(document), dueSince }];
      });
    },
  };
}

/** Unique keys: `_id`, `target`. */
export function reportsRepository(collection: Collection<ReportDocument>, events: EventEntries = NO_EVENTS) {
  async function apply(filter: Filter<ReportDocument>, set: Document): Promise<Report | null> {
    const document = await collection.findOneAndUpdate(filter, [{ $set: set }], { returnDocument: 'after' });
    return document === null ? null : toReport(document);
  }

  return {
    /**
     * Adds a member's report, once until somebody has looked, and after that once for each later version. What was resolved is
     * open again. One write.
     * @param hideAfter at so many reporters of what nobody has looked at, it is withheld; `null`: never
     */
    async add(target: ReportTarget, report: Reported, hideAfter: number | null): Promise<Report> {
      const { text, ...rest } = report;
      const { by, at, version } = report;
      const open = { $ifNull: ['$open', 0] };
      const isOwn = { $eq: ['$$this.by', literal(by)] };
      const isKnown = { $or: [{ $gte: ['$$this.version', version] }, IS_UNDECIDED] };
      const isNew = {
        $and: [
          { $eq: [{ $size: reportsThat({ $and: [isOwn, isKnown] }) }, 0] },
          { $lt: [open, MAX_REPORTERS] },
        ],
      };
      const added = {
        ...literals({ ...rest, ...(text === null ? {} : { text }) }),
        // The clock that places in the list go by.
        at: '$$NOW',
      };
      const undecided = { $add: [{ $size: reportsThat(IS_UNDECIDED) }, 1] };
      const isTooMuch =
        hideAfter === null || target.kind === 'member'
          ? false
          : { $and: [{ $lt: [REVIEWED, version] }, { $gte: [undecided, hideAfter] }] };
      const changed: Document = {
        // There are never too many open ones.
        reports: { $slice: [{ $concatArrays: [REPORTS_NOW, [added]] }, -MAX_REPORTERS] },
        open: { $add: [open, 1] },
        openedAt: { $cond: [{ $gt: [open, 0] }, '$openedAt', at] },
        reportedAt: '$$NOW',
        state: { $cond: [IS_OVER, 'OPEN', { $ifNull: ['$state', 'OPEN'] }] },
        version: { $max: ['$version', version] },
        ruling: ruled('WITHHELD', at, isTooMuch),
      };
      const onlyIfNew = Object.fromEntries(
        Object.entries(changed).map(([name, value]) => [
          name,
          { $cond: [isNew, value, { $ifNull: [`$${name}`, '$$REMOVE'] }] },
        ]),
      );
      return upsert(target, { ...onlyIfNew, ...events.staged('report.created', at, isNew) });
    },

    /**
     * Puts what the host application holds into the queue, also if moderators have decided about it before: they have not seen
     * this version. Idempotent. One write.
     */
    hold: (target: ReportTarget, at: Date, version: number): Promise<Report> =>
      upsert(target, {
        reports: REPORTS_NOW,
        open: { $ifNull: ['$open', 0] },
        openedAt: { $cond: [IS_OVER, at, { $ifNull: ['$openedAt', at] }] },
        state: { $cond: [IS_OVER, 'OPEN', { $ifNull: ['$state', 'OPEN'] }] },
        version: { $max: ['$version', version] },
        ruling: ruled('WITHHELD', at),
      }),

    /** Takes out of the queue what was not recorded, so that nobody can have reported it. One write. */
    async drop(target: ReportTarget): Promise<void> {
      await collection.deleteOne({ target: keyOf(target) });
    },

    async find(id: string): Promise<Report | null> {
      const document = await collection.findOne({ _id: new ObjectId(id) });
      return document === null ? null : toReport(document);
    },

    /** Content of a member that is hidden until somebody has looked at it, the newest first. Index `actor`. */
    async inReview(actorId: UserId, limit: number): Promise<ReportTarget[]> {
      const documents = await collection
        .find({ actorId, 'ruling.verdict': 'WITHHELD' }, upTo(limit))
        .sort({ _id: -1 })
        .toArray();
      return documents.map((document) => toReport(document).target);
    },

    ...rulings(collection, apply),

    /** @param by only reports to which this member has added, with their own entries; `null`: all */
    async findByIds(ids: readonly string[], by: UserId | null): Promise<Report[]> {
      const own = { $filter: { input: '$reports', as: 'one', cond: { $eq: ['$$one.by', literal(by)] } } };
      const documents = await inTurns(
        collection.aggregate<ReportDocument>([
          {
            $match: {
              _id: { $in: ids.map((id) => new ObjectId(id)) },
              ...(by === null ? {} : { 'reports.by': by }),
            },
          },
          ...(by === null ? [] : [{ $set: { reports: own } }]),
        ]),
      );
      return documents.map(toReport);
    },

    /** `null`: it is not open. */
    take: (id: string, by: UserId): Promise<Report | null> =>
      apply({ _id: new ObjectId(id), state: 'OPEN' }, { ...takenIfOpen(by), reviewed: '$version' }),

    /** `null`: it is resolved already. */
    resolve: (id: string, { by, at, outcome, isDismissed }: Resolution): Promise<Report | null> =>
      apply(
        { _id: new ObjectId(id), state: { $in: ['OPEN', 'TAKEN'] } },
        {
          ...{ state: isDismissed ? 'DISMISSED' : 'RESOLVED', resolvedBy: literal(by), resolvedAt: at },
          ...{ outcome: literal(outcome), open: 0, reviewed: '$version' },
          ruling: ruled(isDismissed ? 'SHOWN' : 'HIDDEN', at, IS_WITHHELD),
          ...events.staged('report.resolved', at),
        },
      ),

    /**
     * By number of open reports, then the oldest first, as they were when the first page was read. What has been reported since
     * then is few. One command. Indexes `queue`, `all`, `reported`, each also within a tenant.
     */
    async list(
      beside: UserId,
      /** `null`: all. */
      state: ReportState | null,
      { from, isUp, limit }: Stretch<ReportPosition>,
    ): Promise<ListedReport[]> {
      const wanted = { ...fieldBeside(beside), ...(state === null ? {} : { state }) };
      const documents = await collection
        .aggregate<ReportDocument & { readonly place: number; readonly asOf: Date }>(
          from === null
            ? firstPage(wanted, { isUp, limit })
            : nextPage(collection, wanted, { from, isUp, limit }),
          { batchSize: 2 * limit + 1 },
        )
        .toArray();
      return documents
        .map((document): ListedReport => {
          const report = toReport(document);
          const { place: open, asOf, openedAt } = document;
          return { report, open, openedAt, id: report.id, asOf };
        })
        .sort((a, b) => (isUp ? comparePlaces(b, a) : comparePlaces(a, b)))
        .slice(0, limit);
    },

    /** A batch of what names the member. Indexes `reporter`, `actor`, `taken`, `resolved`. */
    async anonymise(subject: ErasureSubject, limit: number): Promise<number> {
      const { memberId } = subject;
      let changed = 0;
      for (const field of ['reports.by', 'actorId', 'takenBy', 'resolvedBy']) {
        const found = await collection.find({ [field]: memberId }, upTo(limit)).toArray();
        for (const document of found) {
          // Reports that arrive meanwhile are left for the next batch.
          await collection.replaceOne(
            {
              ...{ _id: document._id, open: document.open, state: document.state },
              'ruling.number': document.ruling?.number ?? { $exists: false },
            },
            withoutMember(document, subject),
          );
        }
        changed += found.length;
      }
      return changed;
    },
  };

  async function upsert(target: ReportTarget, set: Document): Promise<Report> {
    const { actorId } = target;
    const about = {
      ...{ actorId, ...fieldBeside(actorId) },
      ...(target.kind === 'member' ? {} : { actionId: new ObjectId(target.actionId) }),
      ...(target.kind === 'interaction' ? { interactionId: new ObjectId(target.interactionId) } : {}),
    };
    const document = await retryOnDuplicateKey(() =>
      collection.findOneAndUpdate({ target: keyOf(target) }, [{ $set: { ...literals(about), ...set } }], {
        upsert: true,
        returnDocument: 'after',
      }),
    );
    if (document === null) throw new Error('An upsert returned no document');
    return toReport(document);
  }
}

const REPORTS_NOW = { $ifNull: ['$reports', []] };
const IS_OVER = { $in: ['$state', ['RESOLVED', 'DISMISSED']] };
const IS_WITHHELD = { $eq: ['$ruling.verdict', 'WITHHELD'] };
const REVIEWED = { $ifNull: ['$reviewed', -1] };
/** A condition for one of the reports: nobody has looked at what it reports. */
const IS_UNDECIDED = { $gt: ['$$this.version', REVIEWED] };

function reportsThat(cond: Document): Document {
  return { $filter: { input: REPORTS_NOW, cond } };
}

/** Expression: another ruling, unless it says what the last one says. */
function ruled(verdict: Verdict, at: Date, isRuled: unknown = true): Document {
  const next = { number: { $add: [{ $ifNull: ['$ruling.number', 0] }, 1] }, verdict, dueSince: at };
  return {
    $cond: [
      { $and: [isRuled, { $ne: ['$ruling.verdict', verdict] }] },
      next,
      { $ifNull: ['$ruling', '$$REMOVE'] },
    ],
  };
}

function takenIfOpen(by: UserId): Document {
  const isOpen = { $eq: ['$state', 'OPEN'] };
  return {
    state: { $cond: [isOpen, 'TAKEN', '$state'] },
    takenBy: { $cond: [isOpen, literal(by), { $ifNull: ['$takenBy', '$$REMOVE'] }] },
  };
}

export interface Resolution {
  readonly by: UserId;
  readonly at: Date;
  readonly outcome: string;
  readonly isDismissed: boolean;
}

function literals(fields: object): Document {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, literal(value)]));
}

function keyOf(target: ReportTarget): string {
  if (target.kind === 'member') return `user:${target.actorId}`;
  return target.kind === 'action' ? `action:${target.actionId}` : `interaction:${target.interactionId}`;
}

function comparePlaces(a: ReportPosition, b: ReportPosition): number {
  return b.open - a.open || a.openedAt.getTime() - b.openedAt.getTime() || (a.id < b.id ? -1 : 1);
}

type Part = Omit<Stretch<ReportPosition>, 'from'>;

function firstPage(wanted: Document, { isUp, limit }: Part): Document[] {
  return [
    { $match: wanted },
    { $sort: turned(BY_SIZE_AND_AGE, isUp) },
    { $limit: limit },
    { $set: { place: '$open', asOf: '$$NOW' } },
  ];
}

/** As `BY_SIZE_AND_AGE`, by the number of reports that were open when the first page was read. */
const BY_PLACE_AND_AGE = { place: -1, openedAt: 1, _id: 1 } as const;

/** A thing reported since the first page was read keeps the place that it had then, or would have had without a report. */
function nextPage(
  { collectionName }: Collection<ReportDocument>,
  wanted: Document,
  { from: { asOf, open, openedAt, id }, isUp, limit }: Part & { readonly from: ReportPosition },
): Document[] {
  const last = { openedAt, _id: new ObjectId(id) };
  const [order, then] = [turned(BY_SIZE_AND_AGE, isUp), turned(BY_PLACE_AND_AGE, isUp)];
  // The last ones among those that are open.
  const since = { $size: { $filter: { input: '$reports.at', as: 'at', cond: { $gte: ['$$at', asOf] } } } };
  const place = { $max: [0, { $subtract: ['$open', since] }] };
  return [
    { $match: { ...wanted, reportedAt: { $not: { $gte: asOf } }, ...beyond(order, { open, ...last }) } },
    { $sort: order },
    { $limit: limit },
    { $set: { place: '$open' } },
    {
      $unionWith: {
        coll: collectionName,
        pipeline: [
          { $match: { ...wanted, reportedAt: { $gte: asOf } } },
          { $set: { place } },
          { $match: beyond(then, { place: open, ...last }) },
          { $sort: then },
          { $limit: limit },
        ],
      },
    },
    { $set: { asOf } },
  ];
}

function toReport(document: ReportDocument): Report {
  const { _id, actionId, interactionId, actorId, state, reports, open, openedAt, ruling } = document;
  return {
    id: _id.toHexString(),
    target: targetOf({
      actionId: actionId?.toHexString(),
      interactionId: interactionId?.toHexString(),
      actorId,
    }),
    ...{ state, open, openedAt },
    reports: reports.map(({ text, ...report }) => ({ ...report, text: text ?? null })),
    isWithheld: ruling?.verdict === 'WITHHELD',
    ruling:
      ruling === undefined
        ? null
        : { number: ruling.number, verdict: ruling.verdict, isDue: ruling.dueSince !== undefined },
    takenBy: document.takenBy ?? null,
    resolvedBy: document.resolvedBy ?? null,
    resolvedAt: document.resolvedAt ?? null,
    outcome: document.outcome ?? null,
  };
}

function targetOf({
  actionId,
  interactionId,
  actorId,
}: {
  readonly actionId: ActionId | undefined;
  readonly interactionId: InteractionId | undefined;
  readonly actorId: UserId;
}): ReportTarget {
  if (actionId === undefined) return { kind: 'member', actorId };
  if (interactionId === undefined) return { kind: 'action', actionId, actorId };
  return { kind: 'interaction', interactionId, actionId, actorId };
}
