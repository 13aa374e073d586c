import type { Member } from '../../domain/member.ts';
import type { DetailsDocument, MemberDocument } from './directory-documents.ts';

/**
 * Projection without details, mail address and terms of searches: they are large or nobody else's business, and deliveries and rules
 * do not need them.
 */
export const WITHOUT_DETAILS = { imageUrl: 0, url: 0, data: 0, search: 0, contact: 0 } as const;

export type PlainMember = Omit<MemberDocument, keyof DetailsDocument | 'search' | 'contact'>;

export function toMember(document: PlainMember): Member {
  const { _id, version: _version, propagated: _propagated, rename: _rename, ...member } = document;
  return { ...member, userId: _id };
}
