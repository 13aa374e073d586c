import type { RefId, UserId } from '../../domain/action.ts';
import type { Member, Ref } from '../../domain/member.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { validate } from '../validate.ts';

/** A member; `null` when the host application never described them. @throws FanfareError BAD_USER_INPUT */
export async function readMember(session: ReaderSession, memberId: UserId): Promise<Member | null> {
  return session.members.load(validate(idSchema, memberId, ['memberId']));
}

/** A ref; `null` when the host application never described it, even if it is followed. @throws BAD_USER_INPUT */
export async function readRef(session: ReaderSession, refId: RefId): Promise<Ref | null> {
  const ref = await session.refs.load(validate(idSchema, refId, ['refId']));
  return ref?.label == null ? null : ref;
}
