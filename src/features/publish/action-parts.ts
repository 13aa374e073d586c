import { MAX_REFS } from '../../domain/action.ts';
import { z } from 'zod';
import type { Action, ActionRef, ActionTexts, RefId, Scope, UserId } from '../../domain/action.ts';
import type { BlockedWithin } from '../../domain/block.ts';
import { namedBy, notifiedKey, reachesFollowers, scopeKey, userKey } from '../../domain/audience.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { nameSchema } from '../../descriptors/define.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { notifiedByDescriptor, refsOfDescriptor } from '../../descriptors/names.ts';
import { descriptorOfInput, descriptorOfType } from '../../descriptors/registry.ts';
import type { MembersRepository } from '../directory/store/members.ts';
import { REFUSED_DETAIL_FIELDS } from '../directory/directory.ts';
import { idsWithin, type NewAction } from '../../storage/actions/action-document.ts';
import type { Repositories } from '../../storage/repositories.ts';
import { validate } from '../../core/validate.ts';
import { clock } from '../../lib/clock.ts';

// Shared by publishing and editing.

/** Upper bound on mentions, and on recipients. */
const MAX_USERS = 1_000;

/** Member ids without duplicates. */
export const userIdsSchema = z
  .array(idSchema)
  .max(MAX_USERS, `Must have at most ${String(MAX_USERS)} entries`)
  .transform((ids) => [...new Set(ids)]);

export const refsSchema = z
  .array(
    z
      .strictObject({ id: idSchema, type: idSchema, label: nameSchema, ...REFUSED_DETAIL_FIELDS })
      .transform(({ id, type, label }) => ({ id, type, label })),
  )
  .max(MAX_REFS, `Must have at most ${String(MAX_REFS)} entries`)
  .transform((refs) => [...new Map(refs.map((ref) => [ref.id, ref])).values()]);

/**
 * For each action. What somebody writes whom no block affects has names. One round trip, none if no action has an
 * id beside that of its actor.
 */
export async function blockedWithin(
  { blocks }: Pick<Repositories, 'blocks'>,
  actions: readonly (ActionTexts & Pick<NewAction, 'actorId' | 'audience' | 'isOfHost'>)[],
): Promise<BlockedWithin[]> {
  const pairs = actions.flatMap((action) => {
    const { actorId, audience, isOfHost = false } = action;
    const ids = new Set([...(isOfHost ? [] : idsWithin(action)), ...namedBy(audience).keys()]);
    ids.delete(actorId);
    return [...ids].map((otherId) => ({ userId: actorId, otherId }));
  });
  const found = pairs.length === 0 ? [] : await blocks.findAmong(pairs);
  return actions.map(({ actorId, isOfHost = false }) => {
    const own = found.filter(({ userId }) => userId === actorId);
    const blocking = isOfHost ? [] : own.filter(({ isUnknown }) => isUnknown);
    return {
      inVain: new Set(own.map(({ otherId }) => otherId)),
      unnamed: new Set(blocking.map(({ otherId }) => otherId)),
    };
  });
}

/** Farthest that an action can be scheduled ahead. */
const MAX_AHEAD_MS = 366 * 86_400_000;

/** @throws FanfareError BAD_USER_INPUT */
export function requireWithinYear(publishAt: Date | null, path: readonly (string | number)[]): void {
  if (publishAt !== null && publishAt.getTime() > clock.time() + MAX_AHEAD_MS)
    throw badInput('Must be at most a year from now', [...path, 'publishAt']);
}

/** Fields that name the actor must match the actor, unless a service publishes. */
export function refuseOtherVoices(
  body: Action['descriptor'],
  actor: UserId,
  path: readonly (string | number)[],
): void {
  const type = descriptorOfType(body.type);
  for (const field of type?.actorFields ?? []) {
    const value = body[field];
    if (value === undefined || value === null || value === actor) continue;
    const message = `Must be the actor unless a service publishes, got ${JSON.stringify(value)}`;
    const issue = { path: [...path, type?.inputName ?? '', field], message };
    throw new FanfareError('FORBIDDEN', `${issue.path.join('.')}: ${message}`, { issues: [issue] });
  }
}

export function checkDescriptor(
  descriptor: Readonly<Record<string, unknown>>,
  path: readonly (string | number)[],
): Action['descriptor'] {
  const given = Object.entries(descriptor).filter(([, value]) => value !== undefined && value !== null);
  const [entry] = given;
  if (entry === undefined || given.length > 1) throw badInput('Must have exactly one property', path);
  const [inputName, body] = entry;
  const type = descriptorOfInput(inputName);
  if (type === undefined) throw badInput(`Unknown descriptor "${inputName}"`, path);
  const plain = typeof body === 'object' && !Array.isArray(body) ? { ...body } : body;
  return { type: type.type, ...validate(type.schema, plain, [...path, inputName]) };
}

export type Groups = ReadonlyMap<
  string,
  { readonly teamId: string | null; readonly departmentId: string | null }
>;

/** Team and department of the actors whose scope needs them. No round trip for other scopes. */
export async function groupsOf(
  members: MembersRepository,
  inputs: readonly { readonly scope: Scope; readonly actor: UserId }[],
): Promise<Groups> {
  const actorIds = new Set(
    inputs.filter(({ scope }) => scope === 'TEAM' || scope === 'DEPARTMENT').map(({ actor }) => actor),
  );
  if (actorIds.size === 0) return new Map();
  const found = await members.findByIds([...actorIds]);
  return new Map(found.map((member) => [member.userId, member]));
}

type Group = Parameters<typeof scopeKey>[1];

/** Whether the actor lacks the group that the scope needs. */
export function lacksGroup(scope: Scope, group: Group): boolean {
  return scope !== 'RESTRICTED' && scopeKey(scope, group) === null;
}

export function noGroup(scope: Scope, path: readonly (string | number)[]): FanfareError {
  return badInput(`The actor has no ${scope.toLowerCase()}`, [...path, 'scope']);
}

/** The members whom an action names. */
interface People {
  readonly mentions: readonly UserId[];
  readonly recipients: readonly UserId[];
}

/** And those whom its descriptor says to notify. */
interface Addressed extends People {
  readonly descriptor: Action['descriptor'];
  readonly scope: Scope;
}

/** Audience keys of an action whose actor has the group that the scope needs. */
export function audienceKeys({ scope, ...people }: Addressed, group: Group): string[] {
  const key = scopeKey(scope, group);
  return [...(key === null ? [] : [key]), ...peopleKeys(people)];
}

export function peopleKeys({ mentions, recipients, descriptor }: Omit<Addressed, 'scope'>): string[] {
  return [
    ...new Set([...mentions, ...recipients].map(userKey)),
    ...notifiedByDescriptor(descriptor).map(notifiedKey),
  ];
}

/**
 * All refs of an action: the given ones, then those that only its descriptor names. How many were given is stored where the
 * descriptor names one of them, too, so that an edit of the descriptor does not take it for its own.
 */
export function withOwnRefs(
  given: readonly ActionRef[],
  descriptor: Action['descriptor'],
): { readonly refs: ActionRef[]; readonly givenRefs: number | null } {
  const ids = new Set(given.map(({ id }) => id));
  const own = refsOfDescriptor(descriptor);
  const added = own.filter(({ id }) => !ids.has(id));
  return { refs: [...given, ...added], givenRefs: added.length === own.length ? null : given.length };
}

/** Actions that all followers may see give refs their names in the search. At most one write per two hundred new refs. */
export async function nameRefs(
  { refs }: Repositories,
  actions: readonly { readonly scope: Scope; readonly refs: readonly ActionRef[] }[],
): Promise<void> {
  await refs.name(actions.filter(reachesFollowers).flatMap((action) => action.refs));
}

/** The refs given explicitly, without those derived from the descriptor. */
export function givenRefsOf({ refs, givenRefs, descriptor }: Action): readonly ActionRef[] {
  if (givenRefs !== null) return refs.slice(0, givenRefs);
  const own = new Set(refsOfDescriptor(descriptor).map(({ id }) => id));
  return refs.filter(({ id }) => !own.has(id));
}

export function refIdsOf(refs: readonly ActionRef[], actorId: UserId): RefId[] {
  return [...new Set([...refs.map((ref) => ref.id), actorId])];
}
