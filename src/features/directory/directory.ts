import type { Core } from '../../core/core.ts';
import { z } from 'zod';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { announceListChange } from '../../feed/announce.ts';
import { type Identity, profileOfMember } from '../../domain/viewer.ts';
import { nameSchema, jsonSchema } from '../../descriptors/define.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { urlSchema } from '../../descriptors/url-schema.ts';
import type { MemberRecord } from './store/members.ts';
import { feedsInDoubt } from '../rebuild/rebuild-feed.ts';
import { emailSchema, localeSchema, zoneSchema } from '../../core/contact.ts';
import { requireRole, validate } from '../../core/validate.ts';
import type { MemberInput, RefInput } from '../../core/shapes.ts';
import { checkMemberQuota } from '../../core/quotas.ts';
import { clock } from '../../lib/clock.ts';
import type { Action, UserId, RefId } from '../../domain/action.ts';
import { departmentKey, teamKey } from '../../domain/audience.ts';
import type { Member, Ref } from '../../domain/member.ts';
import type { FeedEntry } from '../../domain/newsfeed-item.ts';
import { addressedReasons } from '../../domain/visibility.ts';
import { fillFeed } from '../../feed/reconcile-feed.ts';
import { resolveEntries, type PlaceEntry } from '../../feed/relevancies.ts';

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

/** Maximum size of a member's or ref's free data, in bytes of JSON. */
export const MAX_DETAILS_BYTES = 4 * 1024;

/** Omitted details are cleared, like everything a record omits. */
const DETAIL_FIELDS = {
  imageUrl: urlSchema.nullish().transform((url) => url ?? null),
  url: urlSchema.nullish().transform((url) => url ?? null),
  data: jsonSchema(MAX_DETAILS_BYTES)
    .nullish()
    .transform((data) => data ?? null),
};

const refused = z
  .unknown()
  .optional()
  .refine((value) => value == null, 'Must be omitted here: set it with upsertRefs');

/** For inputs that only refer to a ref. */
export const REFUSED_DETAIL_FIELDS = { imageUrl: refused, url: refused, data: refused };

export const MAX_ENTRIES_PER_CALL = 1_000;

/** After this time, a call that has not finished its change counts as interrupted. */
const CUT_OFF_MS = 5_000;

const emptiedWhenAbsent = idSchema.nullish().transform((id) => id ?? null);

const memberSchema = z
  .strictObject({
    memberId: idSchema,
    name: nameSchema,
    teamId: emptiedWhenAbsent,
    departmentId: emptiedWhenAbsent,
    supervisorId: emptiedWhenAbsent,
    email: emailSchema.nullish(),
    locale: localeSchema.nullish(),
    timeZone: zoneSchema.nullish(),
    ...DETAIL_FIELDS,
  })
  .transform(({ memberId, email, locale, timeZone, ...rest }): MemberRecord => ({
    ...{ userId: memberId, ...rest },
    contact: { email: email ?? null, locale: locale ?? null, timeZone: timeZone ?? null },
  }));

const refSchema = z.strictObject({ id: idSchema, type: idSchema, label: nameSchema, ...DETAIL_FIELDS });

/**
 * Synchronises members with the host application. Each record is the complete current state: omitted fields are cleared.
 * Watchers whose team, department or supervisor changes are asked to query their feed again.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, CONFLICT while one of them is being erased, or when there
 * would be more members than the quota allows
 */
export async function upsertMembers(
  core: Core,
  identity: Identity,
  inputs: readonly MemberInput[],
): Promise<number> {
  requireRole(identity, 'service');
  const changes = validate(
    z.array(memberSchema),
    checkCount(inputs, 'members').map((input) => ({ ...input })),
    ['members'],
  );
  const latest = [...new Map(changes.map((change) => [change.userId, change])).values()];
  if (latest.length > 0) {
    await admitMembers(
      core,
      latest.map((change) => change.userId),
    );
    const now = clock.now();
    const before = await core.members.findByIds(latest.map((change) => change.userId));
    await checkMemberQuota(core.members, core.quotas.members, identity, latest.length - before.length);
    const inDoubt = await feedsInDoubt(core, latest, before);
    // Requested before the change, which is the commit point, in case this call is interrupted after it. Requested again
    // after
    // the change, since a rebuild in between uses the old state.
    await core.feedRebuilds.markDue(inDoubt, new Date(now.getTime() + CUT_OFF_MS), { isNotified: false });
    await core.members.upsert(latest, now);
    await announceListChange(core, inDoubt, 'membership');
    await core.feedRebuilds.markDue(inDoubt, now, { isNotified: true });
    if (inDoubt.length > 0) core.workSignal.notify('rebuild');
    await settleMemberships(
      core,
      latest.map((change) => change.userId),
      now,
    );
  }
  return inputs.length;
}

/**
 * Prepares for members being described, possibly again. Somebody described before the second pass of an erasure is a new
 * person; the rules keep late deliveries for the erased one away from them. One round trip, unless one of them was erased.
 * @throws FanfareError CONFLICT while one of them is being erased.
 */
async function admitMembers({ erasures, feeds }: Core, memberIds: readonly UserId[]): Promise<void> {
  const { admitted, erasing } = await erasures.admit(memberIds, clock.now());
  for (const memberId of admitted) await feeds.markChecksFollows(memberId);
  if (erasing.length > 0)
    throw new FanfareError(
      'CONFLICT',
      `These members are being erased, try again later: ${erasing.join(', ')}`,
    );
}

/** Sets refs to the given state: omitted details are cleared. @throws FORBIDDEN, BAD_USER_INPUT */
export async function upsertRefs(
  { refs }: Core,
  identity: Identity,
  inputs: readonly RefInput[],
): Promise<number> {
  requireRole(identity, 'service');
  const checked = validate(
    z.array(refSchema),
    checkCount(inputs, 'refs').map((input) => ({ ...input })),
    ['refs'],
  );
  const latest = [...new Map(checked.map((ref) => [ref.id, ref])).values()];
  if (latest.length > 0) await refs.upsert(latest);
  return inputs.length;
}

/** @throws FanfareError BAD_USER_INPUT for more than 1000 entries. */
export function checkCount<T>(entries: readonly T[], name: string): readonly T[] {
  if (entries.length > MAX_ENTRIES_PER_CALL)
    throw badInput(
      `Must have at most ${String(MAX_ENTRIES_PER_CALL)} entries, got ${String(entries.length)}`,
      [name],
    );
  return entries;
}

/**
 * Delivers actions that were recorded for a group just while the member was joining: their fan-out may have read the group's
 * members before the new one was written, even though the action was recorded after `joined`.
 */
export async function settleMemberships(core: Core, userIds: readonly UserId[], joined: Date): Promise<void> {
  const { members, actions } = core;
  const joiners = (await members.findByIds(userIds)).filter((member) => groupKeys(member, joined).length > 0);
  const keys = [...new Set(joiners.flatMap((member) => groupKeys(member, joined)))];
  if (keys.length === 0) return;
  const recent = await actions.addressedSince(keys, joined);
  if (recent.length === 0) return;
  const place = await resolveEntries(
    core,
    recent,
    joiners.map((member) => member.userId),
  );
  for (const member of joiners) {
    const entries = entriesFor(member, recent, place);
    await fillFeed(core, member.userId, entries, { notifiesOfStored: true });
  }
}

function groupKeys(member: Member, joined: Date): string[] {
  const keys: string[] = [];
  if (member.teamId !== null && member.teamSince?.getTime() === joined.getTime())
    keys.push(teamKey(member.teamId));
  if (member.departmentId !== null && member.departmentSince?.getTime() === joined.getTime())
    keys.push(departmentKey(member.departmentId));
  return keys;
}

function entriesFor(member: Member, actions: readonly Action[], place: PlaceEntry): FeedEntry[] {
  const reader = profileOfMember(member);
  return actions.flatMap((action) => {
    const reasons = addressedReasons(reader, action, []);
    return reasons.length === 0 ? [] : [place(member.userId, action, reasons)];
  });
}
