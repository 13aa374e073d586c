import { upTo } from '../../storage/database/batches.ts';
import { ObjectId, type Collection, type Document, type Filter } from 'mongodb';
import { withoutSubject } from '../../descriptors/anonymise.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import {
  MAX_REPORTERS,
  type Report,
  type Reported,
  type ReportState,
  type ReportTarget,
} from '../../domain/report.ts';
import type { ErasureSubject } from '../../domain/erasure.ts';
import type { InteractionId } from '../../domain/interaction.ts';
import { fieldBeside } from '../../domain/stored-id.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Declared, index, indexWithin, UNSENT } from '../../storage/documents/declaration.ts';
import type { UnsentEvents } from '../../storage/documents/event-documents.ts';
import { type EventEntries, NO_EVENTS } from '../../storage/stages/event-entries.ts';
import { literal } from '../../storage/stages/revision.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly reports: ReturnType<typeof reportsRepository>;
  }
}

export interface ReportDocument extends UnsentEvents {
  _id: ObjectId;
  /** What is reported: `action:`, `interaction:` or `user:` and its id. */
  target: string;
  tenant?: string;
  /** Of the action, and of the one with the interaction. Absent for members. */
  actionId?: ObjectId;
  interactionId?: ObjectId;
  /** Whose content it is, or the reported member. */
  actorId: string;
  state: ReportState;
  /** One for each member. */
  reports: { by: string; at: Date; reason: string; text?: string }[];
  /** Number of reports since it was last resolved. */
  open: number;
  /** The first of them. */
  openedAt: Date;
  /** Somebody has looked at it: reports do not hide it any more. */
  isReviewed?: true;
  /** It is hidden until somebody has looked: reported by many, or held by the host application. */
  isWithheld?: true;
  takenBy?: string;
  resolvedBy?: string;
  resolvedAt?: Date;
  outcome?: string;
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
    index('reporter', { 'reports.by': 1 }, 'erasure and export: what somebody has reported'),
    index('actor', { actorId: 1 }, 'erasure: what was reported of somebody'),
    index('taken', { takenBy: 1 }, 'erasure: what somebody has taken', { sparse: true }),
    index('resolved', { resolvedBy: 1 }, 'erasure: what somebody has resolved', { sparse: true }),
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
  return {
    ...document,
    reports,
    open: Math.max(0, document.open - (document.reports.length - reports.length)),
    actorId: put(actorId),
    target: document.target === `user:${memberId}` ? `user:${pseudonym}` : document.target,
    ...(takenBy === undefined ? {} : { takenBy: put(takenBy) }),
    ...(resolvedBy === undefined ? {} : { resolvedBy: put(resolvedBy) }),
    ...(outcome === undefined ? {} : { outcome: plain(outcome) }),
  };
}

export interface ReportPosition {
  readonly open: number;
  readonly openedAt: Date;
  readonly id: string;
}

/** Unique keys: `_id`, `target`. */
export function reportsRepository(collection: Collection<ReportDocument>, events: EventEntries = NO_EVENTS) {
  async function apply(filter: Filter<ReportDocument>, set: Document): Promise<Report | null> {
    const document = await collection.findOneAndUpdate(filter, [{ $set: set }], { returnDocument: 'after' });
    return document === null ? null : toReport(document);
  }

  return {
    /**
     * Adds a member's report, once. What was resolved is open again. One write.
     * @param hideAfter at so many reporters of what nobody has looked at, `isWithheld` is set; `null`: never
     */
    async add(target: ReportTarget, report: Reported, hideAfter: number | null): Promise<Report> {
      const isNew = {
        $and: [
          { $not: [{ $in: [literal(report.by), { $ifNull: ['$reports.by', []] }] }] },
          { $lt: [{ $size: { $ifNull: ['$reports', []] } }, MAX_REPORTERS] },
        ],
      };
      const isOver = { $in: ['$state', ['RESOLVED', 'DISMISSED']] };
      const open = { $add: [{ $ifNull: ['$open', 0] }, 1] };
      const { text, ...rest } = report;
      const added = literal({ ...rest, ...(text === null ? {} : { text }) });
      const isTooMuch =
        hideAfter === null || target.kind === 'member'
          ? false
          : { $and: [{ $not: ['$isReviewed'] }, { $gte: [open, hideAfter] }] };
      const changed: Document = {
        reports: { $concatArrays: [{ $ifNull: ['$reports', []] }, [added]] },
        open,
        openedAt: { $cond: [{ $gt: ['$open', 0] }, '$openedAt', report.at] },
        state: { $cond: [isOver, 'OPEN', { $ifNull: ['$state', 'OPEN'] }] },
        isWithheld: { $cond: [isTooMuch, true, { $ifNull: ['$isWithheld', '$$REMOVE'] }] },
      };
      const onlyIfNew = Object.fromEntries(
        Object.entries(changed).map(([name, value]) => [
          name,
          { $cond: [isNew, value, { $ifNull: [`$${name}`, '$$REMOVE'] }] },
        ]),
      );
      return upsert(target, { ...onlyIfNew, ...events.staged('report.created', report.at, isNew) });
    },

    /**
     * Puts what the host application holds into the queue. Idempotent. One write.
     * @param isEdit it was recorded before: what moderators decided about it then is over
     */
    hold: (target: ReportTarget, at: Date, isEdit = false): Promise<Report> => {
      const isOver = { $in: ['$state', ['RESOLVED', 'DISMISSED']] };
      const known = { $ifNull: ['$state', 'OPEN'] };
      return upsert(target, {
        reports: { $ifNull: ['$reports', []] },
        open: { $ifNull: ['$open', 0] },
        openedAt: isEdit
          ? { $cond: [{ $gt: ['$open', 0] }, '$openedAt', at] }
          : { $ifNull: ['$openedAt', at] },
        state: isEdit ? { $cond: [isOver, 'OPEN', known] } : known,
        isWithheld: isEdit || { $ifNull: ['$isWithheld', { $cond: ['$isReviewed', '$$REMOVE', true] }] },
      });
    },

    /** Takes out of the queue what was not recorded, so that nobody can have reported it. One write. */
    async drop(target: ReportTarget): Promise<void> {
      await collection.deleteOne({ target: keyOf(target) });
    },

    async find(id: string): Promise<Report | null> {
      const document = await collection.findOne({ _id: new ObjectId(id) });
      return document === null ? null : toReport(document);
    },

    /** What a moderator shows again is hidden by reports no more; what was only held is done. No write for anything else. */
    async release(
      target: Pick<ReportTarget, 'kind'> & { readonly id: string },
      by: UserId,
      at: Date,
    ): Promise<void> {
      const withheld = { target: `${target.kind}:${target.id}`, isWithheld: true as const };
      // A look, since this is rare.
      if ((await collection.countDocuments(withheld, { limit: 1 })) === 0) return;
      const isHeldOnly = { $eq: [{ $size: '$reports' }, 0] };
      await collection.updateOne(withheld, [
        {
          $set: {
            ...{ isReviewed: true, isWithheld: '$$REMOVE' },
            state: { $cond: [isHeldOnly, 'DISMISSED', '$state'] },
            resolvedBy: { $cond: [isHeldOnly, literal(by), { $ifNull: ['$resolvedBy', '$$REMOVE'] }] },
            resolvedAt: { $cond: [isHeldOnly, at, { $ifNull: ['$resolvedAt', '$$REMOVE'] }] },
          },
        },
      ]);
    },

    /** `null`: it is not open. */
    take: (id: string, by: UserId): Promise<Report | null> =>
      apply(
        { _id: new ObjectId(id), state: 'OPEN' },
        { state: 'TAKEN', takenBy: literal(by), isReviewed: true },
      ),

    /** `null`: it is resolved already. */
    resolve: (id: string, { by, at, outcome, isDismissed }: Resolution): Promise<Report | null> =>
      apply(
        { _id: new ObjectId(id), state: { $in: ['OPEN', 'TAKEN'] } },
        {
          ...{ state: isDismissed ? 'DISMISSED' : 'RESOLVED', resolvedBy: literal(by), resolvedAt: at },
          ...{ outcome: literal(outcome), open: 0, isReviewed: true, isWithheld: '$$REMOVE' },
          ...events.staged('report.resolved', at),
        },
      ),

    /** By number of open reports, then the oldest first. Indexes `queue`, `all`, `tenant_queue`, `tenant_all`. */
    async list(query: {
      readonly beside: UserId;
      /** `null`: all. */
      readonly state: ReportState | null;
      readonly after: ReportPosition | null;
      readonly limit: number;
    }): Promise<Report[]> {
      const { beside, state, after, limit } = query;
      const documents = await collection
        .find(
          {
            ...fieldBeside(beside),
            ...(state === null ? {} : { state }),
            ...(after === null ? {} : behind(after)),
          },
          upTo(limit),
        )
        .sort(BY_SIZE_AND_AGE)
        .toArray();
      return documents.map(toReport);
    },

    /** A batch of what names the member. Indexes `reporter`, `actor`, `taken`, `resolved`. */
    async anonymise(subject: ErasureSubject, limit: number): Promise<number> {
      const { memberId } = subject;
      let changed = 0;
      for (const field of ['reports.by', 'actorId', 'takenBy', 'resolvedBy']) {
        const found = await collection.find({ [field]: memberId }, upTo(limit)).toArray();
        for (const document of found) {
          // What is reported meanwhile is left for the next batch.
          await collection.replaceOne(
            { _id: document._id, open: document.open, state: document.state },
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
    if (document === null) throw new Error('An upsert gave no document back');
    return toReport(document);
  }
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

function behind({ open, openedAt, id }: ReportPosition): Filter<ReportDocument> {
  return {
    open: { $lte: open },
    $or: [
      { open: { $lt: open } },
      { openedAt: { $gt: openedAt } },
      { openedAt, _id: { $gt: new ObjectId(id) } },
    ],
  };
}

function toReport(document: ReportDocument): Report {
  const { _id, actionId, interactionId, actorId, state, reports, open, openedAt } = document;
  return {
    id: _id.toHexString(),
    target: targetOf({
      actionId: actionId?.toHexString(),
      interactionId: interactionId?.toHexString(),
      actorId,
    }),
    ...{ state, open, openedAt },
    reports: reports.map(({ text, ...report }) => ({ ...report, text: text ?? null })),
    isWithheld: document.isWithheld ?? false,
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
