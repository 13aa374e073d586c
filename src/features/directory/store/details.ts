import type { Document } from 'mongodb';
import type { RefId, UserId } from '../../../domain/action.ts';
import type { Details, MemberDetails, RefDetails } from '../../../domain/member.ts';
import type { DetailsDocument, RefDocument } from '../../../storage/documents/directory-documents.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { inOneBatch } from '../../../storage/database/batches.ts';
import { literal } from '../../../storage/stages/revision.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly details: ReturnType<typeof detailsRepository>;
  }
}

/** Conditions of which one holds if there are details. */
export const HAS_DETAILS = [
  { imageUrl: { $exists: true } },
  { url: { $exists: true } },
  { data: { $exists: true } },
] as const;

/** `$unset` fields that remove the details. */
export const NO_DETAILS = { imageUrl: 1, url: 1, data: 1 } as const;

const ONLY_DETAILS = { imageUrl: 1, url: 1, data: 1 } as const;

/** Update pipeline fields that set the details; `null` removes one. */
export function storedDetails({ imageUrl, url, data }: Details): Document {
  const set = (value: unknown): unknown => (value === null ? '$$REMOVE' : literal(value));
  return { imageUrl: set(imageUrl), url: set(url), data: set(data) };
}

function toDetails({ imageUrl, url, data }: DetailsDocument): Details {
  return { imageUrl: imageUrl ?? null, url: url ?? null, data: data ?? null };
}

/** Details of members and refs, read separately from their names. Unique keys: `_id`. */
export function detailsRepository({ members, refs }: Collections) {
  return {
    async ofMembers(ids: readonly UserId[]): Promise<MemberDetails[]> {
      const documents = await inOneBatch(
        members
          .find({ _id: { $in: [...ids] } })
          .project<DetailsDocument & { readonly _id: UserId }>(ONLY_DETAILS),
        ids.length,
      );
      return documents.map((document) => ({ userId: document._id, ...toDetails(document) }));
    },

    async ofRefs(ids: readonly RefId[]): Promise<RefDetails[]> {
      const documents = await inOneBatch(
        refs
          .find({ _id: { $in: [...ids] } })
          .project<DetailsDocument & { _id: string; pinned?: RefDocument['pinned'] }>({
            ...ONLY_DETAILS,
            pinned: 1,
          }),
        ids.length,
      );
      return documents.map((document) => ({
        refId: document._id,
        ...toDetails(document),
        pinned: (document.pinned ?? []).map((id) => id.toHexString()),
      }));
    },
  };
}
