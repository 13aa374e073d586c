import type { RefId, UserId } from '../../domain/action.ts';
import type { FollowSpan } from '../../domain/follow-span.ts';
import type { Follow } from '../../domain/viewer.ts';
import type { FollowDocument } from './reader-documents.ts';

export interface FollowPair {
  readonly followerId: UserId;
  readonly refId: RefId;
}

export function toSpans(spans: FollowDocument['spans']): FollowSpan[] {
  return spans.map(({ since, until, sinceAction, types }) => ({
    since,
    ...(until === undefined ? {} : { until }),
    ...(sinceAction === undefined ? {} : { sinceAction: sinceAction.toHexString() }),
    ...(types === undefined ? {} : { types }),
  }));
}

/** The document fields that make up a follow. */
export type PlainFollow = Pick<FollowDocument, 'refId' | 'active' | 'spans' | 'isAssigned' | 'lists'>;
export const FOLLOW_FIELDS = { _id: 0, refId: 1, active: 1, spans: 1, isAssigned: 1, lists: 1 } as const;

export function toFollow({ refId, active, spans, isAssigned, lists }: PlainFollow): Follow {
  return {
    ...{ refId, active, spans: toSpans(spans) },
    ...(isAssigned === undefined ? {} : { isAssigned }),
    ...(lists === undefined ? {} : { lists }),
  };
}

export type StoredFollow = Follow & FollowPair;
export type PlainPair = PlainFollow & FollowPair;

export function toStoredFollow(document: PlainPair): StoredFollow {
  return { ...toFollow(document), followerId: document.followerId };
}

/** A follow as its member is given it, and an attempt to follow somebody who blocks them: they must not differ. */
export function exportedFollow({ refId, active, spans, isAssigned, lists = [] }: PlainFollow) {
  return {
    refId,
    active,
    lists: active ? lists : [],
    isAssigned: active && isAssigned === true,
    spans: spans.map(({ since, until, types }) => ({ since, until: until ?? null, types: types ?? null })),
  };
}
