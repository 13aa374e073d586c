import { ObjectId, type Filter, type FindCursor } from 'mongodb';
import type { Action, ActionId, UserId, ModerationRecord } from '../../../../src/domain/action.ts';
import { toAction } from '../../../../src/storage/actions/action-document.ts';
import { ACTION_TRACES } from '../../../../src/features/erasure/store/anonymise-actions.ts';
import type { MemberDocument, RefDocument } from '../../../../src/storage/documents/directory-documents.ts';
import type { FeedDocument } from '../../../../src/storage/documents/reader-documents.ts';
import type { HostEventDocument } from '../../../../src/storage/documents/event-documents.ts';
import { fieldOf } from '../../../../src/storage/documents/ids.ts';
import type { Collections } from '../../../../src/storage/database/mongo.ts';
import type { Declaration } from '../../../../src/storage/documents/declaration.ts';

/** A section of an export. */
export interface MemberList {
  readonly section: string;
  readonly entries: () => AsyncGenerator<object[], void, undefined>;
}

/** Moderation as its subject may know it. */
type ExportedModeration = Pick<ModerationRecord, 'kind' | 'at' | 'reason'>;

const BATCH = 500;

/** The collections, with what is declared of them. */
export interface Declares {
  readonly collections: Collections;
  readonly declarations: readonly Declaration[];
}

/** Reads everything stored about a member, complete lists in batches of 500, each by an index. */
export function memberData({ collections, declarations }: Declares) {
  const { actions, hostEvents, feeds, follows, members, moderationLog, refs } = collections;
  const listed = declarations.flatMap(({ name, export: exported }) =>
    'because' in exported
      ? []
      : exported.flatMap((part) => (typeof part === 'string' ? [] : [{ name, ...part }])),
  );

  return {
    /** Data stored in single documents, and the number of related documents of others. */
    async profile(memberId: UserId) {
      const [member, ref, feed, followers, mutedBy] = await Promise.all([
        members.findOne({ _id: memberId }),
        refs.findOne({ _id: memberId }),
        feeds.findOne({ _id: memberId }),
        follows.countDocuments({ refId: memberId, active: true }),
        feeds.countDocuments({ mutes: { $elemMatch: { kind: 'MEMBER', value: memberId } } }),
      ]);
      return {
        member: member === null ? null : withoutInternals(member),
        ref: ref === null ? null : withoutInternals(ref),
        reader: feed === null ? null : marksOf(feed),
        followers,
        mutedBy,
      };
    },

    /** Actions related to the member, without duplicates. Indexes `slice`, `names`, `other_ids`, `audience`. */
    async *actions(memberId: UserId): AsyncGenerator<Action[], void, undefined> {
      for (const [index, { filter }] of ACTION_TRACES.entries()) {
        const earlier = ACTION_TRACES.slice(0, index);
        for await (const documents of batches(actions.find(filter(memberId))))
          yield documents
            .filter((document) => !earlier.some(({ isIn }) => isIn(document, memberId)))
            .map(toAction);
      }
    },

    /** Moderation of these actions (what, when and why, but not by whom), by action. Index `action`. */
    async moderationOf(actionIds: readonly ActionId[]): Promise<Map<ActionId, ExportedModeration[]>> {
      const records = await moderationLog
        .find({ actionId: { $in: actionIds.map((id) => new ObjectId(id)) } })
        .sort({ at: 1, _id: 1 })
        .toArray();
      const byAction = new Map<ActionId, ExportedModeration[]>();
      for (const { actionId, kind, at, reason } of records) {
        const id = actionId.toHexString();
        byAction.set(id, [...(byAction.get(id) ?? []), { kind, at, reason }]);
      }
      return byAction;
    },

    /** Lists of single documents, each by an index. */
    lists: (memberId: UserId): MemberList[] =>
      listed.map(({ name, section, of, where = {}, sort, entry }) => ({
        section,
        entries: async function* () {
          const cursor = members.db.collection(name).find({ ...where, [fieldOf(of)]: memberId });
          for await (const documents of batches(sort === undefined ? cursor : cursor.sort(sort)))
            yield documents.map((document) => entry(document, memberId));
        },
      })),

    /**
     * Host events that name the member, as long as they are stored. Indexes `members`, `type`.
     * @param withOthers include what others did.
     */
    async *events(memberId: UserId, withOthers: boolean) {
      const own: Filter<HostEventDocument> = withOthers
        ? {}
        : {
            $or: (['actorId', 'followerId', 'memberId'] as const).map((field) => ({
              [`facts.${field}`]: memberId,
            })),
          };
      for await (const documents of batches(hostEvents.find({ memberIds: memberId, ...own })))
        yield documents.map(({ _id: id, type, at, facts: { readers: _readers, ...facts } }) => ({
          ...{ id, type, at },
          ...facts,
        }));
      const delivered = hostEvents.find({ type: 'item.delivered', 'facts.readers.memberId': memberId });
      for await (const documents of batches(delivered))
        yield documents.map(({ _id: id, type, at, facts: { actionId, readers = [] } }) => ({
          ...{ id, type, at, actionId },
          reasons: readers.find((reader) => reader.memberId === memberId)?.reasons ?? [],
        }));
    },
  };
}

export async function* batches<T>(cursor: FindCursor<T>): AsyncGenerator<T[], void, undefined> {
  cursor.batchSize(BATCH);
  let batch: T[] = [];
  for await (const document of cursor) {
    batch.push(document);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Without the progress of renames, and without the terms of searches, which repeat the name. */
function withoutInternals<T extends MemberDocument | RefDocument>(document: T) {
  const {
    _id: id,
    version: _version,
    propagated: _propagated,
    rename: _rename,
    search: _search,
    ...facts
  } = document;
  return { id, ...facts };
}

function marksOf({ lastRead, viewsRead, lists, showsLess, mutes, checksFollows, digestedAt }: FeedDocument) {
  return {
    ...(digestedAt === undefined ? {} : { digestedAt }),
    lastRead: lastRead ?? null,
    ...(viewsRead === undefined ? {} : { viewsRead }),
    lists: lists ?? [],
    showsLess: (showsLess ?? []).map(({ actionId, until }) => ({ actionId: actionId.toHexString(), until })),
    mutes: mutes ?? [],
    checksFollows: checksFollows ?? false,
  };
}
