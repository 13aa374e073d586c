import { newObjectId } from '../../storage/database/mongo.ts';
import type { Core } from '../core.ts';
import type { UserId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import { type Erasure, newPseudonym } from '../../domain/erasure.ts';
import type { Identity } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { requireRole, validate } from '../validate.ts';
import { runErasure } from './jobs/run-erasure.ts';
import { clock } from '../../lib/clock.ts';
import { decodePlace, encodePlace } from '../../domain/cursor.ts';
import { idBeside } from '../../domain/stored-id.ts';
import type { ErasurePlace, ListedErasure } from './store/erasures.ts';
import { collectPage, pageSize } from '../../feed/page/paging.ts';
import type { Page, PageArgs } from '../shapes.ts';

const LIST = 'erasures';
const KEY_BYTES = 32;

/** Erasures, most recently requested first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function listErasures(
  { erasureList }: Core,
  identity: Identity,
  args: PageArgs,
): Promise<Page<Erasure>> {
  requireRole(identity, 'admin');
  const list = idBeside(identity.userId, LIST);
  const after = args.after == null ? null : decodePlace(list, args.after, KEY_BYTES);
  return collectPage<ErasurePlace, ListedErasure, ListedErasure>({
    size: pageSize(args.first),
    after: after && { startedAt: new Date(after.at), key: after.id },
    scan: (from, limit) => erasureList.read(identity.userId, from, limit),
    select: (erasures) => Promise.resolve(erasures),
    cursorOf: (place) => encodePlace(list, place.startedAt.getTime(), place.key),
  });
}

/** Time a request spends on the erasure itself, in milliseconds; the rest is done in the background. */
const REQUEST_BUDGET_MS = 5_000;

/**
 * Erases a member. One write is the commit point; after it the erasure will be completed by this call, by a repeated call or
 * in the background. Also works for users nobody described, who may still have left traces.
 *
 * @returns true when nothing identifies the member any more; false when it continues in the background.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT
 */
export async function eraseMember(
  core: Core,
  identity: Identity,
  memberId: UserId,
  budgetMs = REQUEST_BUDGET_MS,
): Promise<boolean> {
  requireRole(identity, 'admin');
  const { erasures, members, refs } = core;
  const id = validate(idSchema, memberId, ['memberId']);
  const [member, [ref]] = await Promise.all([members.find(id), refs.findByIds([id])]);
  const now = clock.now();
  await erasures.begin({
    memberId: id,
    names: [member?.name, ref?.label].filter((name) => name != null),
    pseudonym: newPseudonym(id),
    by: identity.userId,
    now,
  });
  const { leaseMs } = core.erasureTiming;
  const claim = await erasures.claim({ token: newObjectId(), now, leaseMs }, id);
  if (claim !== null) {
    const deadline = performance.now() + budgetMs;
    await runErasure(core, claim, () => performance.now() > deadline);
  }
  const erasure = await erasures.find(id);
  return erasure !== null && erasure.state !== 'RUNNING';
}

/** Progress of a member's erasure; `null`: there was none. @throws FORBIDDEN, BAD_USER_INPUT */
export async function readErasure(
  { erasures }: Core,
  identity: Identity,
  memberId: UserId,
): Promise<Erasure | null> {
  requireRole(identity, 'admin');
  return erasures.find(validate(idSchema, memberId, ['memberId']));
}

/**
 * Prepares for members being described, possibly again. Somebody described before the second pass of an erasure is a new
 * person; the rules keep late deliveries for the erased one away from them. One round trip, unless one of them was erased.
 * @throws FanfareError CONFLICT while one of them is being erased.
 */
export async function admitMembers({ erasures, feeds }: Core, memberIds: readonly UserId[]): Promise<void> {
  const { admitted, erasing } = await erasures.admit(memberIds, clock.now());
  for (const memberId of admitted) await feeds.markChecksFollows(memberId);
  if (erasing.length > 0)
    throw new FanfareError(
      'CONFLICT',
      `These members are being erased, try again later: ${erasing.join(', ')}`,
    );
}
