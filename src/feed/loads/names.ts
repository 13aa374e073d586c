import type { RefId } from '../../domain/action.ts';
import type { RefName } from '../../domain/member.ts';
import { load } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';

export const MEMBER = load({
  async batch({ members, nameCache }, ids, request) {
    const directory = (await request?.directory()) ?? null;
    return directory === null ? members.findByIds(ids) : nameCache.members(directory, ids);
  },
  key: ({ userId }) => userId,
  hasNames: true,
});

export const REF = load({
  batch: ({ refs }, ids) => refs.findByIds(ids),
  key: ({ refId }) => refId,
  hasNames: true,
});

export const CACHED_REF_NAME = load({
  async batch({ refs, nameCache }, ids, request) {
    const directory = (await request?.directory()) ?? null;
    return directory === null ? refs.namesOf(ids) : nameCache.refNames(directory, ids);
  },
  key: ({ refId }) => refId,
  hasNames: true,
});

/** The name that the first action with a ref gives it, for refs that nobody has described. */
export const NAMED_BY_ACTION = load({
  batch: ({ actions }, ids) => actions.firstNaming(ids),
  key: ({ id }) => id,
});

/** Name and type of a ref, possibly cached by the process. */
export async function refName(session: ReaderSession, refId: RefId): Promise<RefName | null> {
  return session.load<RefName>((await session.directory()) === null ? REF : CACHED_REF_NAME, refId);
}

export const MEMBER_DETAILS = load({
  batch: ({ details }, ids) => details.ofMembers(ids),
  key: ({ userId }) => userId,
});

export const REF_DETAILS = load({
  batch: ({ details }, ids) => details.ofRefs(ids),
  key: ({ refId }) => refId,
});
