import { newObjectId } from '../../../src/storage/database/mongo.ts';
import type { Core } from '../../../src/core/core.ts';
import type { UserId } from '../../../src/domain/action.ts';
import { type Erasure, newPseudonym } from '../../../src/domain/erasure.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { idSchema } from '../../../src/descriptors/id-schema.ts';
import { requireRole, validate } from '../../../src/core/validate.ts';
import { runErasure } from './jobs/erasure.ts';
import { memberTraces } from './store/member-traces.ts';
import { clock } from '../../../src/lib/clock.ts';
import { decodePlace, encodePlace } from '../../../src/domain/cursor.ts';
import { idBeside } from '../../../src/domain/stored-id.ts';
import type { ErasurePlace, ListedErasure } from '../../../src/features/erasure/store/erasures.ts';
import { askedPage, collectPage } from '../../../src/feed/page/paging.ts';
import type { Page, PageArgs } from '../../../src/core/shapes.ts';

const LIST = 'erasures';
const KEY_BYTES = 32;

/** Erasures, most recently requested first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function listErasures(
  { erasures }: Core,
  identity: Identity,
  args: PageArgs,
): Promise<Page<Erasure>> {
  requireRole(identity, 'admin');
  const list = idBeside(identity.userId, LIST);
  return collectPage<ErasurePlace, ListedErasure, ListedErasure>({
    page: askedPage(args, (cursor) => {
      const { at, id } = decodePlace(list, cursor, KEY_BYTES);
      return { startedAt: new Date(at), key: id };
    }),
    scan: (stretch) => erasures.list(identity.userId, stretch),
    select: (found) => Promise.resolve(found),
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
  traces = memberTraces(core),
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
    await runErasure(core, claim, () => performance.now() > deadline, traces);
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
