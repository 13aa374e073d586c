import { idOfTime } from '../../storage/database/database-time.ts';
import type { Core } from '../../core/core.ts';
import { z } from 'zod';
import type { Action, ActionId, UserId } from '../../domain/action.ts';
import { NO_BLOCKS, withoutEffectFor } from '../../domain/block.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import {
  interactionKey,
  interactionVersion,
  isShown,
  MAX_INTERACTION_DATA_BYTES,
  MAX_MENTIONS,
  type InteractionId,
  type InteractionIdentity,
  MAX_COMMENT_LENGTH,
} from '../../domain/interaction.ts';
import type { Member } from '../../domain/member.ts';
import { INTERACTION_KINDS, MAX_FUTURE_MS, MAX_LATE_MS } from '../../domain/relevancy.ts';
import type { Identity } from '../../domain/viewer.ts';
import { isEntitled, needsFollows } from '../../domain/visibility.ts';
import { jsonSchema } from '../../descriptors/define.ts';
import { textSchema } from '../../descriptors/text-schema.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { encodeActionId } from '../../domain/node-ids.ts';
import { isHeld } from '../publish/ask-host.ts';
import { isBlockedFor } from '../../feed/loads/own-blocks.ts';
import { reactionAmong } from '../../domain/text-forms.ts';
import type { RecordOutcome } from './store/interaction-records.ts';
import { findVisible, noSuchAction } from '../../feed/page/read-actions.ts';
import { openSession } from '../../feed/session/open-session.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { actingAs, validate } from '../../core/validate.ts';
import type { ChangedInteraction, RecordInteractionInput } from '../../core/shapes.ts';
import { clock } from '../../lib/clock.ts';
import { settleInteraction, settleUnknown, type ChangeBegun } from './settle-interaction.ts';
import { shortened } from '../../lib/cut.ts';

export const commentSchema = textSchema(MAX_COMMENT_LENGTH).min(1, 'Must not be empty');

const inputSchema = z.strictObject({
  kind: z.enum(INTERACTION_KINDS),
  actorId: idSchema.nullish(),
  idempotencyKey: idSchema.nullish(),
  at: z.date().nullish(),
  text: commentSchema.nullish(),
  reaction: z.string().nullish(),
  parentId: z.string().nullish(),
  mentions: z
    .array(idSchema)
    .max(MAX_MENTIONS, `Must have at most ${String(MAX_MENTIONS)} entries`)
    .nullish()
    .transform((ids) => [...new Set(ids)]),
  data: jsonSchema(MAX_INTERACTION_DATA_BYTES).nullish(),
});
type CheckedInput = z.infer<typeof inputSchema>;

/**
 * Records a comment, like, reshare or reaction, which boosts the action in the feeds of concerned readers. The insert is the
 * commit point; counts and boosts are derived from it. A like, a reshare and each reaction count once per actor, a comment
 * once per idempotency key; repetitions change nothing. An interaction that was taken back and is given again keeps its
 * first time, unless it repeats an idempotency key.
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN; NOT_FOUND when the actor may not see the action or the parent comment,
 * no matter who
 *   records it; CONFLICT when it was recorded before and then hidden
 */
export async function addInteraction(
  core: Core,
  session: ReaderSession,
  { actionId, ...input }: RecordInteractionInput,
): Promise<ChangedInteraction> {
  const { identity } = session;
  const checked = checkKind(validate(inputSchema, input, ['input']), core.reactions);
  const actor = checked.actorId ?? identity.userId;
  const actingIdentity = actingAs(identity, actor, 'record');
  const at = timeOf(checked, identity);
  const acting = actingIdentity === identity ? session : openSession(core, actingIdentity);
  const others = checked.mentions.filter((id) => id !== actor);
  const visible = await findVisible(core, acting, actionId, [actor, ...others]);
  const { action } = visible;

  const { kind, text, reaction, parentId, data, idempotencyKey = null } = checked;
  const of: InteractionIdentity = { kind, actorId: actor, reaction: reaction ?? null, idempotencyKey };
  const key = interactionKey(of);
  const unread = [...new Set([actor, action.actorId, ...others])].filter((id) => !visible.areRead.has(id));
  const [more, reached, parentActorId] = await Promise.all([
    unread.length === 0 ? [] : core.members.findFew(unread),
    withoutBlocks(core, others, [...new Set([actor, action.actorId])]),
    parentId == null ? null : checkParent(core, acting, { actionId, key }, parentId),
  ]);
  const members = [...visible.members, ...more];
  const mentions = await whoMaySee(core, action, reached, members);
  const isHeld = await isHeldByHost(core, { by: identity.userId, action, checked, actor, key });
  const id = idOfTime(clock.now()).toHexString();
  const target = { kind: 'interaction', interactionId: id, actionId, actorId: actor } as const;
  // Before it is recorded: whatever interrupts the call, nothing is hidden that is not in the queue.
  if (isHeld) await core.reports.hold(target, clock.now(), interactionVersion({ editedAt: null }));
  const departmentIds = departmentsOf(members, [actor, action.actorId]);
  // Facts that were read together with those of others are incomplete.
  const notFor = withoutEffectFor(
    visible.blocks.isWhole ? visible.blocks : await core.blocks.of(actor, null),
  );
  const begunAt = clock.now();
  const recorded = await core.interactions.record({
    ...of,
    ...{ id, isHeld, actionId, at },
    ...{ departmentIds, mentions },
    ownerId: action.actorId,
    parentActorId,
    key: key ?? id,
    text: text ?? null,
    parentId: parentId ?? null,
    data: data ?? null,
    passesOn: kind === 'RESHARE' && action.scope === 'PUBLIC',
    notFor,
  });
  // Another call at the same time was first.
  if (isHeld && recorded?.interaction.id !== id) await core.reports.drop(target);
  if (recorded === null) throw noSuchAction();
  const { interaction, change } = recorded;
  const changed = await settled(core, recorded, { action, at: begunAt, departmentIds, notFor });
  if (!isHeld && interaction.state === 'HIDDEN' && !isShown(interaction, actingIdentity.roles.has('admin')))
    throw new FanfareError('CONFLICT', 'This interaction was recorded before and has been hidden since');
  return { interaction, action: changed, isReplay: change === 'none' };
}

/**
 * Whether the host holds it. Not asked about what was recorded before.
 * @throws FanfareError FORBIDDEN if the host refuses it, UNAVAILABLE
 */
async function isHeldByHost(
  { hooks, interactions }: Core,
  asked: {
    readonly by: UserId;
    readonly action: Action;
    readonly checked: CheckedInput;
    readonly actor: UserId;
    readonly key: string | null;
  },
): Promise<boolean> {
  if (hooks.beforeInteract === null) return false;
  const { by, action, checked, actor, key } = asked;
  if (key !== null && (await interactions.isRecorded(action.id, key))) return false;
  const { kind, text, reaction, mentions, data } = checked;
  return isHeld(hooks.beforeInteract, actor, {
    ...{ interactionId: null, by, actorId: actor },
    ...{ actionId: encodeActionId(action.id), actionActorId: action.actorId, kind },
    ...{ text: text ?? null, reaction: reaction ?? null, mentions, data: data ?? null },
  });
}

/** A replay of a settled interaction needs no further work. */
async function settled(
  core: Core,
  { interaction, change, settling }: RecordOutcome,
  begun: ChangeBegun & { readonly notFor: readonly string[] },
): Promise<Action> {
  if (settling === null) return begun.action;
  if (change === 'none') return settleUnknown(core, interaction, settling);
  const { kind, reaction, at, state } = interaction;
  return settleInteraction(
    core,
    interaction,
    state === 'VISIBLE' ? { kind: 'given', of: kind, reaction, at } : { kind: 'none' },
    settling,
    // An interaction that is given again has other departments stored. One that does not lift for all needs a pass.
    change === 'new' && begun.notFor.length === 0 ? begun : undefined,
  );
}

/** Gives the reaction as it is configured. */
function checkKind(input: CheckedInput, reactions: readonly string[]): CheckedInput {
  const { kind, text, reaction, parentId, mentions } = input;
  if (text != null && kind !== 'COMMENT') throw badInput('Only a COMMENT can have a text', ['input', 'text']);
  if (parentId != null && kind !== 'COMMENT')
    throw badInput('Only a COMMENT can reply to a comment', ['input', 'parentId']);
  if (mentions.length > 0 && kind !== 'COMMENT')
    throw badInput('Only a COMMENT can mention members', ['input', 'mentions']);
  if (reaction != null && kind !== 'REACTION')
    throw badInput('Only a REACTION can have a reaction', ['input', 'reaction']);
  if (kind !== 'REACTION') return input;
  const known = reaction == null ? undefined : reactionAmong(reactions, reaction);
  if (known !== undefined) return { ...input, reaction: known };
  throw badInput(
    `Must be one of ${reactions.join(' ')}, got ${reaction == null ? 'none' : `"${shortened(reaction, 64)}"`}`,
    ['input', 'reaction'],
  );
}

/**
 * The parent must be a visible comment on the same action that is not itself a reply. A retry stays one even after the parent
 * was removed or hidden. Returns the parent's actor; `null` for a retry.
 */
async function checkParent(
  { interactions }: Core,
  session: ReaderSession,
  { actionId, key }: { readonly actionId: ActionId; readonly key: string | null },
  parentId: InteractionId,
): Promise<UserId | null> {
  const parent = (await interactions.find(parentId))?.interaction;
  const isThere =
    parent?.actionId === actionId &&
    parent.state === 'VISIBLE' &&
    !(await isBlockedFor(session, parent.actorId));
  if (!isThere) {
    if (key !== null && (await interactions.isRecorded(actionId, key))) return null;
    throw new FanfareError('NOT_FOUND', 'There is no such comment');
  }
  if (parent.kind !== 'COMMENT') throw badInput('Not a comment', ['input', 'parentId']);
  if (parent.parentId !== null)
    throw badInput('This comment is a reply, and replies cannot have replies', ['input', 'parentId']);
  return parent.actorId;
}

/** `null`: now, which it is never later than. Services and admins record history, members what has just happened. */
function timeOf({ at }: CheckedInput, { roles }: Identity): Date | null {
  if (at == null) return null;
  const age = clock.time() - at.getTime();
  if (age < -MAX_FUTURE_MS)
    throw badInput('Must not be more than five minutes in the future', ['input', 'at']);
  if (age > MAX_LATE_MS && !roles.has('service') && !roles.has('admin'))
    throw badInput('Must not be more than a day ago, unless a service records it', ['input', 'at']);
  return age < 0 ? null : at;
}

/** The members among these who have no block with any of the others. Notifications that a block keeps away do not come when it ends. */
async function withoutBlocks(
  { blocks }: Core,
  userIds: readonly UserId[],
  otherIds: readonly UserId[],
): Promise<readonly UserId[]> {
  if (userIds.length === 0) return userIds;
  const found = await blocks.findPairs(
    userIds.flatMap((userId) => otherIds.map((otherId) => ({ userId, otherId }))),
  );
  const blocked = new Set(found.map(({ userId }) => userId));
  return userIds.filter((userId) => !blocked.has(userId));
}

/** The members among these who may see the action, as far as that does not depend on a role. No command unless follows decide. */
async function whoMaySee(
  { follows }: Core,
  action: Action,
  userIds: readonly UserId[],
  members: readonly Member[],
): Promise<UserId[]> {
  const known = new Map(members.map((member) => [member.userId, member]));
  const readers = userIds.map((userId) => ({
    ...{ userId, isAdmin: false, member: known.get(userId) ?? null },
    // Known before.
    blocks: NO_BLOCKS,
  }));
  const inQuestion = readers.filter((reader) => needsFollows(reader, action)).map(({ userId }) => userId);
  const found = await follows.amongPassers(inQuestion, action.refIds);
  return readers
    .filter((reader) => isEntitled(reader, action, found.get(reader.userId) ?? []))
    .map(({ userId }) => userId);
}

function departmentsOf(members: readonly Member[], userIds: readonly UserId[]): string[] {
  const of = members.filter(({ userId }) => userIds.includes(userId));
  return [...new Set(of.flatMap(({ departmentId }) => departmentId ?? []))].sort();
}
