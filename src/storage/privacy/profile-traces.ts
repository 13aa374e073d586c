import type { ErasureSubject } from '../../domain/erasure.ts';
import { FORMER_MEMBER } from '../../domain/pseudonym.ts';
import { HAS_DETAILS, NO_DETAILS } from '../directory/details.ts';
import type { DirectoryStampsRepository } from '../directory/directory-stamps.ts';
import { userIds } from '../database/ids-of.ts';
import type { Collections } from '../database/mongo.ts';

/** A member's names and groups. See `member-traces.ts`. */
export function profileTraces(
  { feeds, members, refs }: Collections,
  directoryStamps: DirectoryStampsRepository,
) {
  return {
    /**
     * Removes name, details, groups and supervisor of the member, and label and details of the member as a ref. Names are
     * read from there, so nobody is shown them from now on, wherever they were copied to.
     */
    async conceal({ memberId }: ErasureSubject): Promise<number> {
      const results = await directoryStamps.stamping([memberId], () =>
        Promise.all([
          members.updateOne(
            { _id: memberId, $or: [{ name: { $ne: FORMER_MEMBER } }, ...HAS_DETAILS] },
            {
              $set: {
                name: FORMER_MEMBER,
                teamId: null,
                teamSince: null,
                departmentId: null,
                departmentSince: null,
                supervisorId: null,
              },
              $unset: NO_DETAILS,
            },
          ),
          refs.updateOne(
            {
              _id: memberId,
              label: { $exists: true },
              $or: [{ label: { $ne: FORMER_MEMBER } }, ...HAS_DETAILS],
            },
            { $set: { label: FORMER_MEMBER }, $unset: NO_DETAILS },
          ),
        ]),
      );
      return results.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0);
    },

    /** Replaces the member as supervisor; boosts that resulted from it stay. Index `supervisor`. */
    async anonymiseSupervisor({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await userIds(members.find({ supervisorId: memberId }).limit(limit));
      await directoryStamps.stamping(found, () =>
        members.updateMany(
          { _id: { $in: found }, supervisorId: memberId },
          { $set: { supervisorId: pseudonym } },
        ),
      );
      return found.length;
    },

    /** Deletes the member's profile, ref and feed settings, as the last step. */
    async removeProfile({ memberId }: ErasureSubject): Promise<number> {
      const results = await directoryStamps.stamping([memberId], () =>
        Promise.all([
          members.deleteOne({ _id: memberId }),
          refs.deleteOne({ _id: memberId }),
          feeds.deleteOne({ _id: memberId }),
        ]),
      );
      return results.reduce((sum, { deletedCount }) => sum + deletedCount, 0);
    },
  };
}
