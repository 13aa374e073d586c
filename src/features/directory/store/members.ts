import { toMember, type PlainMember } from '../../../storage/documents/member-document.ts';
import type { Collection, Document, Filter } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import type { Contact, Details, Member } from '../../../domain/member.ts';
import type { ConcernedGroups, RelevancyReader } from '../../../domain/relevancy.ts';
import { inSlices, mapInTurns } from '../../../lib/turn.ts';
import { storedDetails } from './details.ts';
import { WITHOUT_DETAILS } from '../../../storage/documents/member-document.ts';
import { findNames, SEARCH_INDEX, searchStage, type NamePosition, type NameQuery } from './name-search.ts';
import type { DirectoryStampsRepository } from '../../../storage/stamps/directory-stamps.ts';
import type { MemberDocument } from '../../../storage/documents/directory-documents.ts';
import { mayBeOfOne, retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { NO_STAMPS, type ReaderStamps } from '../../../storage/stamps/reader-stamps.ts';
import { renamed } from '../../../storage/stages/rename-stages.ts';
import { gathered } from '../../../lib/gathered.ts';
import { inOneBatch, upTo } from '../../../storage/database/batches.ts';
import { literal } from '../../../storage/stages/revision.ts';
import { type Declared, index, RENAME, NOT_OF_ACTIONS } from '../../../storage/documents/declaration.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly members: ReturnType<typeof membersRepository>;
  }
}

export const MEMBERS: Declared<'members'> = {
  name: 'members',
  holds: 'a person: name, groups, supervisor',
  ids: { member: ['_id', 'supervisorId'], group: ['teamId', 'departmentId'] },
  indexes: [
    RENAME,
    index('supervisor', { supervisorId: 1, _id: 1 }, 'erasure and export: whose supervisor somebody is'),
    index('team', { teamId: 1, _id: 1 }, 'fan-out: members of a team in a stable order'),
    SEARCH_INDEX,
    index('department', { departmentId: 1, _id: 1 }, 'fan-out: members of a department in a stable order'),
  ],
  shard: { key: { _id: 1 }, serves: 'a member by id' },
  erase: ['CONCEAL', 'SUPERVISION', 'PROFILE'],
  export: [
    'member',
    { section: 'supervises', of: 'supervisorId', entry: ({ _id: memberId }) => ({ memberId }) },
  ],
  action: NOT_OF_ACTIONS,
};

export type MemberRecord = Details &
  Pick<Member, 'userId' | 'name' | 'teamId' | 'departmentId' | 'supervisorId'> & {
    readonly contact: Contact;
  };

function storedContact(contact: Contact): Document {
  const given = Object.entries(contact).filter(([, value]) => value !== null);
  return { contact: given.length === 0 ? '$$REMOVE' : literal(Object.fromEntries(given)) };
}

export interface Group {
  readonly kind: 'team' | 'department';
  readonly id: string;
}

/** Sets a group and, if it changes, the time since when. */
function groupStages(field: 'teamId' | 'departmentId', value: string | null, now: Date): Document {
  const sinceField = field === 'teamId' ? 'teamSince' : 'departmentSince';
  const old = { $ifNull: [`$${field}`, null] };
  const next = literal(value);
  const oldSince = { $ifNull: [`$${sinceField}`, null] };
  return {
    [field]: next,
    [sinceField]: {
      $cond: [{ $eq: [next, null] }, null, { $cond: [{ $eq: [old, next] }, oldSince, now] }],
    },
  };
}

/** Members per write: serialising a thousand blocks the event loop. */
const WRITTEN_AT_ONCE = 200;
/** Calls that are answered together. */
const ASKED_AT_ONCE = 50;

export function membersRepository(
  collection: Collection<MemberDocument>,
  directoryStamps: DirectoryStampsRepository,
  stamps: ReaderStamps = NO_STAMPS,
) {
  async function findByIds(ids: readonly UserId[]): Promise<Member[]> {
    const documents = await inOneBatch(
      collection.find({ _id: { $in: [...ids] } }).project<PlainMember>(WITHOUT_DETAILS),
      ids.length,
    );
    return documents.map(toMember);
  }

  const findTogether = gathered(
    async (asked: readonly (readonly UserId[])[]) => {
      const found = await findByIds([...new Set(asked.flat())]);
      return new Map(found.map((member) => [member.userId, member]));
    },
    { most: ASKED_AT_ONCE, mayBeOfOne },
  );

  return {
    /**
     * One write per two hundred members, plus one for the stamp. Idempotent: an unchanged group keeps its time. Changed
     * names become due for renaming. Unique key: `_id`.
     */
    async upsert(records: readonly MemberRecord[], now: Date): Promise<void> {
      const operation = (record: MemberRecord) => ({
        updateOne: {
          filter: { _id: record.userId },
          update: [
            {
              $set: {
                ...renamed('name', record.name, now),
                ...groupStages('teamId', record.teamId, now),
                ...groupStages('departmentId', record.departmentId, now),
                supervisorId: literal(record.supervisorId),
                ...storedDetails(record),
                ...storedContact(record.contact),
              },
            },
            searchStage(record.userId, record.name),
          ],
          upsert: true,
        },
      });
      await inSlices(records, WRITTEN_AT_ONCE, async (some) => {
        const operations = await mapInTurns(some, operation);
        return directoryStamps.stamping(
          some.map(({ userId }) => userId),
          () => retryOnDuplicateKey(() => collection.bulkWrite(operations, { ordered: false })),
        );
      });
      await stamps.renew(records.map(({ userId }) => userId));
    },

    findByIds,

    /** How to write to members whose mail address is known. One read. Unique key: `_id`. */
    async withEmail(ids: readonly UserId[]): Promise<Map<UserId, Contact & { readonly email: string }>> {
      const documents = await inOneBatch(
        collection
          .find({ _id: { $in: [...ids] }, 'contact.email': { $exists: true } })
          .project<Pick<MemberDocument, '_id' | 'contact'>>({ contact: 1 }),
        ids.length,
      );
      return new Map(
        documents.map(({ _id, contact: { email = '', locale = null, timeZone = null } = {} }) => [
          _id,
          { email, locale, timeZone },
        ]),
      );
    },

    /** The same for a few, in one round trip for calls at the same time. */
    async findFew(ids: readonly UserId[]): Promise<Member[]> {
      const found = await findTogether(ids);
      return ids.flatMap((id) => found.get(id) ?? []);
    },

    /** Members by words of their names. See `findNames`. */
    search: (query: NameQuery): Promise<NamePosition[]> => findNames(collection, query),

    /** The members among these with one of these departments or supervisors. One round trip, none without any. */
    async amongGroups(
      ids: readonly UserId[],
      { departmentIds, supervisorIds }: ConcernedGroups,
    ): Promise<RelevancyReader[]> {
      const groups: Filter<MemberDocument>[] = [];
      if (departmentIds.length > 0) groups.push({ departmentId: { $in: [...departmentIds] } });
      if (supervisorIds.length > 0) groups.push({ supervisorId: { $in: [...supervisorIds] } });
      if (groups.length === 0) return [];
      const documents = await inOneBatch(
        collection
          .find({ _id: { $in: [...ids] }, $or: groups })
          .hint('_id_')
          .project<Pick<MemberDocument, '_id' | 'departmentId' | 'supervisorId'>>({
            departmentId: 1,
            supervisorId: 1,
          }),
        ids.length,
      );
      return documents.map(({ _id: userId, departmentId, supervisorId }) => ({
        ...{ userId, departmentId, supervisorId },
      }));
    },

    async find(id: UserId): Promise<Member | null> {
      const document = await collection.findOne<PlainMember>({ _id: id }, { projection: WITHOUT_DETAILS });
      return document === null ? null : toMember(document);
    },

    /** Number of members in an id range, counted up to a limit. */
    async countIn(
      { from, before }: { readonly from: UserId; readonly before: UserId },
      limit: number,
    ): Promise<number> {
      return collection.countDocuments({ _id: { $gte: from, $lt: before } }, { limit });
    },

    /** Members of a group in order of id, after `afterId`. Indexes `team`, `department`. */
    async inGroup(group: Group, afterId: UserId | null, limit: number): Promise<Member[]> {
      const documents = await collection
        .find(
          {
            [group.kind === 'team' ? 'teamId' : 'departmentId']: group.id,
            ...(afterId === null ? {} : { _id: { $gt: afterId } }),
          },
          upTo(limit),
        )
        .sort({ _id: 1 })
        .project<PlainMember>(WITHOUT_DETAILS)
        .toArray();
      return documents.map(toMember);
    },
  };
}

export type MembersRepository = ReturnType<typeof membersRepository>;
