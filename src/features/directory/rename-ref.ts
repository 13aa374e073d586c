import type { Core } from '../core.ts';
import { z } from 'zod';
import type { RefId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Ref } from '../../domain/member.ts';
import type { Identity } from '../../domain/viewer.ts';
import { nameSchema } from '../../descriptors/define.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { requireRole, validate } from '../validate.ts';

const inputSchema = z.strictObject({ refId: idSchema, label: nameSchema });

/**
 * Changes the label of a ref. The single write to the ref is the commit point: reads show the new label at once, and copies
 * in actions are updated in the background. Also describes refs known only from actions or follows.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, NOT_FOUND
 */
export async function renameRef(core: Core, identity: Identity, refId: RefId, label: string): Promise<Ref> {
  requireRole(identity, 'service');
  const input = validate(inputSchema, { refId, label });
  return (
    (await core.refs.relabel(input.refId, input.label)) ?? (await describe(core, input.refId, input.label))
  );
}

async function describe({ refs, renames }: Core, refId: RefId, label: string): Promise<Ref> {
  const { isFollowed, isMember, isHeld, type } = await renames.traces(refId);
  if (type !== null) return refs.describe(refId, { type, label });
  if (isMember)
    throw new FanfareError('NOT_FOUND', 'There is no such ref; rename members with upsertMembers');
  if (!isFollowed && !isHeld) throw new FanfareError('NOT_FOUND', 'There is no such ref');
  return refs.describe(refId, { label });
}
