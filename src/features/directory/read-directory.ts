import type { RefId, UserId } from '../../domain/action.ts';
import type { Member, Ref } from '../../domain/member.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { blockWith, isBlockedFor, nobodyNamed, ownNaming } from '../../feed/loads/own-blocks.ts';
import type { BlockBetween } from '../../storage/documents/block-document.ts';
import { validate } from '../../core/validate.ts';
import { MEMBER, NAMED_BY_ACTION, REF } from '../../feed/loads/names.ts';

/** A member; `null` when the host application never described them, or there is a block between the two. @throws FanfareError BAD_USER_INPUT */
export async function readMember(session: ReaderSession, memberId: UserId): Promise<Member | null> {
  const id = validate(idSchema, memberId, ['memberId']);
  const [member, isKept] = await Promise.all([session.load(MEMBER, id), isBlockedFor(session, id)]);
  return isKept ? null : member;
}

/**
 * A ref; `null` when neither the host application nor an action has ever described it, even if it is followed. One round trip
 * more if the host application has not.
 * @throws FanfareError BAD_USER_INPUT
 */
export async function readRef(session: ReaderSession, refId: RefId): Promise<Ref | null> {
  const id = validate(idSchema, refId, ['refId']);
  const [ref, block] = await Promise.all([refOf(session, id), blockWith(session, id)]);
  if (block !== null) return namedByOwn(session, block);
  return ref.label === null ? null : ref;
}

/** A ref, including one known only from being followed. @throws FanfareError BAD_USER_INPUT */
export async function getRef(session: ReaderSession, refId: RefId): Promise<Ref | null> {
  const id = validate(idSchema, refId, ['refId']);
  const [ref, block] = await Promise.all([refOf(session, id), blockWith(session, id)]);
  if (block !== null) {
    const isFollowed = block.followed !== null && !block.isOwn;
    return (
      (await namedByOwn(session, block)) ?? (isFollowed ? nobodyNamed(session, id, block.followed) : null)
    );
  }
  return ref.label === null && (await session.load(REF, id)) === null ? null : ref;
}

/** An id that nobody has, named by actions of the reader; `null`: they name it nowhere, or block the member. */
async function namedByOwn(
  session: ReaderSession,
  { otherId, isOwn, followed }: BlockBetween,
): Promise<Ref | null> {
  const naming = isOwn ? null : await ownNaming(session, otherId);
  return naming === null ? null : nobodyNamed(session, otherId, followed);
}

/** A ref with what is known about it; type and label are missing when nobody described it. */
export async function refOf(session: ReaderSession, refId: RefId): Promise<Ref> {
  const [ref] = await refsOf(session, [refId]);
  return ref ?? unknown(refId);
}

/** The same for several, in their order. Members are not described by actions: they have their names. */
export async function refsOf(session: ReaderSession, refIds: readonly RefId[]): Promise<Ref[]> {
  const found = await session.loadMany(REF, refIds);
  const refs = found.map((ref, index) => ref ?? unknown(refIds[index] ?? ''));
  const undescribed = refs.filter(({ label }) => label === null).map(({ refId }) => refId);
  if (undescribed.length === 0) return refs;
  const members = await session.loadMany(MEMBER, undescribed);
  const things = undescribed.filter((_id, index) => members[index] === null);
  const naming = await session.loadMany(NAMED_BY_ACTION, things);
  const named = new Map(naming.flatMap((ref) => (ref === null ? [] : [[ref.id, ref]])));
  return refs.map((ref) => {
    const { type, label } = named.get(ref.refId) ?? ref;
    return { ...ref, type, label };
  });
}

function unknown(refId: RefId): Ref {
  return { refId, type: null, label: null, followerCount: 0 };
}
