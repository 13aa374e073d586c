import { groupKeyOf } from '../../../descriptors/group-key.ts';
import { concernedByDescriptor } from '../../../descriptors/names.ts';
import { ObjectId, type Document, type Filter, type WithId } from 'mongodb';
import type { Action, ActionId, UserId } from '../../../domain/action.ts';
import { blockTag, type BlockedWithin, isUnnamed } from '../../../domain/block.ts';
import type { Lane } from '../../../domain/lane.ts';
import {
  namedBy,
  reachesFollowers,
  userKey,
  concernedAfter,
  type Concerned,
} from '../../../domain/audience.ts';
import { isAudienceChanged, mayLoseReaders, type ActionContent } from '../../../domain/edit.ts';
import {
  idsWithin,
  newActionDocument,
  otherIdsOf,
  toAction,
} from '../../../storage/actions/action-document.ts';
import { fieldBeside } from '../../../domain/stored-id.ts';
import type {
  ActionDocument,
  FormerAudienceDocument,
  ModerationDocument,
} from '../../../storage/documents/documents.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import { passRequested, notifiedUntilNow, formerKept } from '../../../storage/stages/fan-out-stages.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { idOfStamp, namesShown, nameStamp, UNCARRIED } from '../../../storage/stamps/directory-stamps.ts';
import { revised, literal } from '../../../storage/stages/revision.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly edits: ReturnType<typeof editsRepository>;
  }
}

/** Attempts before giving up on an action that keeps changing. */
const MAX_TRIES = 10;

export interface Edit {
  /** Computes the new content from the current action. Throws to refuse. */
  readonly change: (action: Action) => ActionContent;
  readonly by: UserId;
  readonly at: Date;
  /** The members whose ids it has and between whom and its actor there is a block now. Absent: nobody. */
  readonly blocked: BlockedWithin | undefined;
  /** The lane of its pass, unless readers may lose the action. */
  readonly lane: Lane;
  /** Record the edit in the moderation log. */
  readonly isLogged: boolean;
  /** The host holds it: a scheduled action is hidden then, once it is published. */
  readonly isHeld: boolean;
}

/** Edits of an action's content and audience. */
export function editsRepository({ actions }: Collections, events: EventEntries = NO_EVENTS) {
  return {
    /**
     * Applies an edit and requests a pass, in one write, conditional on the action being unchanged since it was read. Two
     * round trips, plus two for each concurrent change. `null`: there is no such action, or it keeps changing.
     */
    async edit(id: ActionId, edit: Edit): Promise<Action | null> {
      const { change, by, at, lane, isLogged, blocked } = edit;
      const _id = new ObjectId(id);
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const document = await actions.findOne({ _id });
        if (document === null) return null;
        const record: ModerationDocument | null = isLogged
          ? { _id: new ObjectId(), actionId: _id, at, ...fieldBeside(by), by, kind: 'EDIT', reason: null }
          : null;
        const content = change(toAction(document));
        if (document.publishAt !== undefined) {
          const instead = await actions.findOneAndUpdate(
            unchanged(document),
            revised(replacing(document, rescheduled(document, content, edit, record))),
            { returnDocument: 'after' },
          );
          if (instead !== null) return toAction(instead);
          continue;
        }
        const { fields, isUpToLatest } = edited(document, content, { at, lane, blocked }, events);
        const changed = await actions.findOneAndUpdate(
          { ...unchanged(document), ...(isUpToLatest ? { latest: document.latest } : {}) },
          revised([
            {
              $set: {
                ...fields,
                ...events.staged('action.updated', at),
                ...(record === null
                  ? {}
                  : {
                      unlogged: { $concatArrays: [{ $ifNull: ['$unlogged', []] }, [literal(record)]] },
                    }),
              },
            },
          ]),
          { returnDocument: 'after' },
        );
        if (changed !== null) return toAction(changed);
      }
      return null;
    },
  };
}

/** A scheduled action after an edit: as if it had been scheduled like this at first, since nobody has seen it. */
function rescheduled(
  document: WithId<ActionDocument>,
  content: ActionContent,
  { blocked, isHeld }: Edit,
  record: ModerationDocument | null,
): WithId<ActionDocument> {
  const before = toAction(document);
  const { fanOut, unlogged = [] } = document;
  const unnamed = unnamedAfter(document, content, blocked?.unnamed);
  const notFor = notForAfter(document, content, blocked?.inVain);
  const { unnamed: _unnamed, ...known } = { ...before, ...content };
  const made = newActionDocument({ ...known, isHeld, lane: before.fanOut.lane }, NO_EVENTS, null);
  return {
    ...made,
    _id: document._id,
    version: before.version + 1,
    ...(unnamed === null ? {} : { unnamed }),
    ...(notFor === null ? {} : { notFor }),
    ...(record === null && unlogged.length === 0
      ? {}
      : { unlogged: [...unlogged, ...(record === null ? [] : [record])] }),
    fanOut: {
      ...made.fanOut,
      ...(fanOut.recordsHostEvents === undefined ? {} : { recordsHostEvents: fanOut.recordsHostEvents }),
    },
  };
}

/** An update pipeline that makes one document of another. */
function replacing(document: object, instead: object): Document[] {
  const left = Object.keys(document).filter((field) => !(field in instead));
  const values = Object.entries(instead).filter(([field]) => field !== '_id');
  return [
    { $set: Object.fromEntries(values.map(([field, value]) => [field, literal(value)])) },
    ...(left.length === 0 ? [] : [{ $unset: left }]),
  ];
}

/** Matches the document as it was read: another edit, a rename, an erasure or a deletion may come in between. */
function unchanged(document: ActionDocument & { readonly _id: ObjectId }): Filter<ActionDocument> {
  const { _id, actorId, audience, refIds, names, otherIds, version } = document;
  const { isHidden, isDeleted, publishAt, pullRefIds } = document;
  return {
    ...{ _id, actorId, audience, refIds, isHidden, isDeleted },
    names: names ?? { $exists: false },
    // All that changes when somebody is erased of whom the descriptor has only the id.
    otherIds: otherIds ?? { $exists: false },
    version: version ?? { $exists: false },
    // What is scheduled may be edited until it is published.
    ...(isDeleted ? { publishAt: publishAt ?? { $exists: false } } : {}),
    pullRefIds: pullRefIds ?? { $exists: false },
  };
}

interface Edited {
  /** Fields that an update pipeline sets. */
  readonly fields: Document;
  /** The edit ends whom the action concerns, up to its latest interaction. */
  readonly isUpToLatest: boolean;
}

function edited(
  document: WithId<ActionDocument>,
  given: ActionContent,
  { at, lane, blocked }: Pick<Edit, 'at' | 'lane' | 'blocked'>,
  events: EventEntries,
): Edited {
  const before = toAction(document);
  const unnamed = unnamedAfter(document, given, blocked?.unnamed);
  const content: ActionContent = { ...given, ...(unnamed === null ? {} : { unnamed }) };
  const isReaddressed = isAudienceChanged(before, content);
  const concerning = concernedAfter(before, content, at, concernedByDescriptor(content.descriptor));
  const values = {
    ...content,
    ...(unnamed === null && document.unnamed === undefined ? {} : { unnamed }),
    names: namesAfter(document, content),
    ...(isReaddressed ? audienceAfter(document, before, content) : {}),
    otherIds: otherIdsAfter(content, concerning),
    ...storedConcerned(concerning),
    ...(concerning === before ? {} : { namedAt: at }),
    notFor: notForAfter(document, content, blocked?.inVain),
    // An untouched group key stays, even if the type is now declared differently or not at all.
    groupKey:
      content.descriptor === before.descriptor ? before.groupKey : groupKeyOf({ ...before, ...content }),
    version: before.version + 1,
    editedAt: at,
  };
  return {
    fields: {
      ...Object.fromEntries(Object.entries(values).map(([field, value]) => [field, present(value)])),
      ...passRequested({ notBefore: at, lane: mayLoseReaders(before, content) ? 'URGENT' : lane }),
      ...(isReaddressed ? { ...passAfter(document, before), ...notifiedUntilNow(events) } : {}),
    },
    isUpToLatest: concerning.formerlyConcerned !== before.formerlyConcerned,
  };
}

/** The members whom naming does not reach because of a block: for members named before, as it was then; for others, as it is now. */
function notForAfter(
  { audience, notFor = [] }: ActionDocument,
  content: ActionContent,
  inVain: ReadonlySet<UserId> = new Set(),
): string[] | null {
  if (notFor.length === 0 && inVain.size === 0) return null;
  const before = namedBy(audience);
  const among = [...namedBy(content.audience).keys()].filter((userId) =>
    before.has(userId) ? notFor.includes(blockTag(userId)) : inVain.has(userId),
  );
  return among.length === 0 ? null : among.map(blockTag);
}

/** Which ids stay without a name: of those that it had before, as it was; of others, as it is now. */
function unnamedAfter(
  document: ActionDocument,
  content: ActionContent,
  unnamed: ReadonlySet<UserId> = new Set(),
): string[] | null {
  if (document.unnamed === undefined && unnamed.size === 0) return null;
  const before = new Set(idsWithin(document));
  const tags = idsWithin(content)
    .filter((id) => (before.has(id) ? isUnnamed(document, id) : unnamed.has(id)))
    .map(blockTag);
  return tags.length === 0 ? null : tags;
}

/** Empty values are stored as absent fields. */
function present(value: unknown): Document | string {
  return value === null || value === undefined ? '$$REMOVE' : literal(value);
}

/** Names in edited content count as freshly published; other names keep their version. */
function namesAfter({ refs, descriptor, names = [] }: ActionDocument, content: ActionContent): unknown {
  const isSame = refs === content.refs && descriptor === content.descriptor;
  const stamps = namesShown(content).map((id) => {
    const known = isSame ? names.find((stamp) => idOfStamp(stamp) === id) : undefined;
    return known ?? nameStamp(id, UNCARRIED);
  });
  return stamps.length === 0 ? null : stamps;
}

function audienceAfter(
  { undecidedRefIds = [] }: ActionDocument,
  before: Action,
  content: ActionContent,
): Document {
  const { refIds } = content;
  const isDecided = reachesFollowers(before);
  const kept = isDecided ? before.pullRefIds.filter((refId) => refIds.includes(refId)) : [];
  const undecided = refIds.filter(
    (refId) => !isDecided || undecidedRefIds.includes(refId) || !before.refIds.includes(refId),
  );
  return {
    audienceRev: before.audienceRev + 1,
    pullRefIds: kept.length === 0 ? null : kept,
    undecidedRefIds: undecided.length === 0 || !reachesFollowers(content) ? null : undecided,
  };
}

function storedConcerned({ concerned, formerlyConcerned }: Concerned): Document {
  return {
    concerned: concerned?.map(({ key, since }) => (since === null ? { key } : { key, since })),
    formerlyConcerned: formerlyConcerned.length === 0 ? null : formerlyConcerned,
  };
}

/** Includes people named before the edit, so that what remains of them can be found. */
function otherIdsAfter(content: ActionContent, { concerned, formerlyConcerned }: Concerned): string[] | null {
  const now = new Set(content.audience);
  const former = [...(concerned ?? []), ...formerlyConcerned].flatMap(({ key }) =>
    key.startsWith(USER_PREFIX) && !now.has(key) ? [key.slice(USER_PREFIX.length)] : [],
  );
  const ids = [...new Set([...otherIdsOf(content), ...former])];
  return ids.length === 0 ? null : ids;
}

const USER_PREFIX = userKey('');

/** Discards the checkpoint of earlier passes. The next pass notifies readers who lost the action. */
function passAfter(document: ActionDocument, before: Action): Document {
  const former: FormerAudienceDocument = {
    rev: before.audienceRev,
    scope: document.scope,
    audience: document.audience,
    mentions: document.mentions,
    recipients: document.recipients,
    refIds: document.refIds,
    pullRefIds: document.pullRefIds ?? [],
    ...(document.reshares === undefined ? {} : { reshares: document.reshares }),
  };
  return {
    'fanOut.checkpoint': '$$REMOVE',
    // Watchers already know that a hidden action is gone.
    ...(before.isHidden ? {} : formerKept(literal(former))),
  };
}
