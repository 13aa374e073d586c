import type { Core } from '../../core/core.ts';
import { z } from 'zod';
import type { Action, UserId } from '../../domain/action.ts';
import { SCOPES } from '../../domain/action.ts';
import { blockTag } from '../../domain/block.ts';
import { DEFAULT_LANE, type Lane, MAX_LIVE_AT_ONCE } from '../../domain/lane.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { baseRelevancy, MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import { type Identity, isAffectedByBlocks } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { isHeld } from './ask-host.ts';
import { groupsOf as grouped } from '../../lib/groups-of.ts';
import { turn } from '../../lib/turn.ts';
import { idsWithin, type NewAction } from '../../storage/actions/action-document.ts';
import type { PublicationKey } from './store/publishing.ts';
import type { NewClaim } from '../../storage/documents/documents.ts';
import { actingAs, summaryOf, validate } from '../../core/validate.ts';
import type {
  PublishActionInput,
  PublishedAction,
  PublishOptions,
  PublishOutcome,
} from '../../core/shapes.ts';
import { beyondGrant, takePublications, type GrantedPublications } from '../../core/quotas.ts';
import { clock } from '../../lib/clock.ts';
import {
  audienceKeys,
  blockedWithin,
  checkDescriptor,
  groupsOf,
  lacksGroup,
  nameRefs,
  noGroup,
  refIdsOf,
  refsSchema,
  refuseOtherVoices,
  requireWithinYear,
  userIdsSchema,
  withOwnRefs,
  type Groups,
} from './action-parts.ts';

export const MAX_ACTIONS_PER_CALL = 500;

const idsOrNone = userIdsSchema.nullish().transform((ids) => ids ?? []);

const timeOrNone = z
  .date()
  .nullish()
  .transform((time) => time ?? null);

const inputSchema = z
  .strictObject({
    idempotencyKey: idSchema.nullish().transform((key) => key ?? null),
    actorId: idSchema.nullish(),
    conducted: z.date().nullish(),
    expiresAt: timeOrNone,
    publishAt: timeOrNone,
    scope: z
      .enum(SCOPES)
      .nullish()
      .transform((scope) => scope ?? 'FOLLOWERS'),
    recipients: idsOrNone,
    mentions: idsOrNone,
    refs: refsSchema.nullish().transform((refs) => refs ?? []),
    descriptor: z.looseObject({}),
  })
  .superRefine((input, context) => {
    if (input.publishAt !== null && input.conducted != null)
      context.addIssue({
        code: 'custom',
        path: ['conducted'],
        message: 'Must be omitted with publishAt, which takes its place',
      });
    if (input.scope === 'RESTRICTED' && input.recipients.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['recipients'],
        message: 'Must name 1 to 1000 readers of a RESTRICTED action',
      });
    if (input.scope !== 'RESTRICTED' && input.recipients.length > 0)
      context.addIssue({
        code: 'custom',
        path: ['recipients'],
        message: 'Must be omitted unless the scope is RESTRICTED',
      });
  });

type CheckedInput = z.output<typeof inputSchema> & {
  readonly givenRefs: number | null;
  readonly actor: string;
  readonly body: Action['descriptor'];
};

/**
 * Records an action. One atomic write is the commit point; its fan-out runs in the background.
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN, RATE_LIMITED when the quota is used up
 */
export async function publishAction(
  core: Core,
  identity: Identity,
  input: PublishActionInput,
): Promise<PublishedAction> {
  const checked = check(identity, input, ['input']);
  if ((await lateOf(core, [checked])).has(checked)) throw tooLate(checked, ['input']);
  if ((await withoutRoom(core, [checked])).has(checked)) throw tooManyScheduled();
  const groups = await groupsOf(core.members, [checked]);
  if ((await grouplessOf(core, [checked], groups)).has(checked)) throw noGroup(checked.scope, ['input']);
  const held = await heldByHost(core, identity, [checked]);
  const [refusal] = held.refused.values();
  if (refusal !== undefined) throw refusal;
  await using quota = await takePublications(core.quotas, identity, 1);
  if (quota.refusal !== null && (await refusedOf(core, quota, [checked])).has(checked)) throw quota.refusal;
  const lane = await core.fanOuts.laneFor(checked.actor, 1);
  const action = newAction(checked, {
    ...{ groups, recorded: clock.now(), lane, isImported: false, isOfHost: !isAffectedByBlocks(identity) },
    isHeld: held.held.has(checked),
  });
  const [published] = await record(core, [action]);
  if (published === undefined) throw new Error('An insert returned no action');
  quota.recorded = published.isReplay ? 0 : 1;
  refuseUnseenReplay(identity, published);
  return published;
}

/**
 * Records many actions in few writes; each one succeeds or fails on its own.
 * @param options.isBulk deliver after everything else, since nobody is waiting. Always the case for more than 20 actions. By a
 *   service it is an import: the host is not asked, and not notified of deliveries.
 * @throws FanfareError BAD_USER_INPUT for more than 500.
 */
export async function publishActions(
  core: Core,
  identity: Identity,
  inputs: readonly PublishActionInput[],
  { isBulk = false }: PublishOptions = {},
): Promise<PublishOutcome[]> {
  if (inputs.length > MAX_ACTIONS_PER_CALL)
    throw badInput(
      `Must have at most ${String(MAX_ACTIONS_PER_CALL)} entries, got ${String(inputs.length)}`,
      ['inputs'],
    );
  const outcomes: PublishOutcome[] = [];
  let accepted: { readonly position: number; readonly input: CheckedInput }[] = [];
  // Parsing and coercing this many inputs has blocked the event loop for a while.
  if (inputs.length > MAX_LIVE_AT_ONCE) await turn.next();
  for (const [position, input] of inputs.entries()) {
    if (turn.isOver()) await turn.next();
    attempt(outcomes, position, () => {
      accepted.push({ position, input: check(identity, input, ['inputs', position]) });
    });
  }
  const inputsOf = (): CheckedInput[] => accepted.map(({ input }) => input);
  const refuse = (
    refused: ReadonlySet<CheckedInput>,
    refusalOf: (input: CheckedInput, path: readonly (string | number)[]) => FanfareError,
  ): void => {
    for (const { position, input } of accepted)
      if (refused.has(input)) outcomes[position] = outcomeOf(refusalOf(input, ['inputs', position]));
    accepted = accepted.filter(({ input }) => !refused.has(input));
  };
  refuse(await lateOf(core, inputsOf()), tooLate);
  refuse(await withoutRoom(core, inputsOf()), tooManyScheduled);
  const groups = await groupsOf(core.members, inputsOf());
  refuse(await grouplessOf(core, inputsOf(), groups), ({ scope }, path) => noGroup(scope, path));
  // A program of the host imports what the host has already. Of anybody else, `isBulk` chooses the lane and nothing more.
  const isImported = isBulk && identity.roles.has('service');
  const { held, refused } = isImported ? NOTHING_HELD : await heldByHost(core, identity, inputsOf());
  refuse(
    new Set(refused.keys()),
    (input) => refused.get(input) ?? new FanfareError('FORBIDDEN', 'The host application refuses this'),
  );
  // Last, so that what is left of the quota goes to entries that nothing else is wrong with.
  await using quota = await takePublications(core.quotas, identity, accepted.length);
  const { refusal } = quota;
  if (refusal !== null) refuse(await refusedOf(core, quota, inputsOf()), () => refusal);
  const recorded = clock.now();
  const laneOf = await lanesOf(core, inputsOf(), isBulk || inputs.length > MAX_LIVE_AT_ONCE);
  const ready: { readonly position: number; readonly action: NewAction }[] = [];
  for (const { position, input } of accepted) {
    if (turn.isOver()) await turn.next();
    const lane = laneOf(input);
    ready.push({
      position,
      action: newAction(input, {
        ...{ groups, recorded, lane, isImported, isOfHost: !isAffectedByBlocks(identity) },
        isHeld: held.has(input),
      }),
    });
  }
  const actions = ready.map(({ action }) => action);
  const published = await record(core, actions);
  published.forEach((result, index) => {
    const entry = ready[index];
    if (entry === undefined) return;
    attempt(outcomes, entry.position, () => {
      refuseUnseenReplay(identity, result);
      outcomes[entry.position] = { ...result, error: null };
    });
  });
  quota.recorded = published.filter((result) => !result.isReplay).length;
  return outcomes;
}

/** A batch that is not bulk as a whole is divided by actor. */
async function lanesOf(
  { fanOuts }: Core,
  inputs: readonly CheckedInput[],
  isBulk: boolean,
): Promise<(input: CheckedInput) => Lane> {
  if (isBulk) return () => 'BULK';
  const counts = new Map<string, number>();
  for (const { actor } of inputs) counts.set(actor, (counts.get(actor) ?? 0) + 1);
  const lanes = new Map(
    await Promise.all(
      [...counts].map(async ([actor, count]) => [actor, await fanOuts.laneFor(actor, count)] as const),
    ),
  );
  return ({ actor }) => lanes.get(actor) ?? DEFAULT_LANE;
}

interface HeldByHost {
  readonly held: ReadonlySet<CheckedInput>;
  readonly refused: ReadonlyMap<CheckedInput, FanfareError>;
}

const NOTHING_HELD: HeldByHost = { held: new Set(), refused: new Map() };
/** Publications about which the host is asked at once. */
const ASKED_AT_ONCE = 16;

/** The publications that the host holds or refuses. It is not asked about replays. */
async function heldByHost(
  core: Core,
  identity: Identity,
  inputs: readonly CheckedInput[],
): Promise<HeldByHost> {
  const { beforePublish } = core.hooks;
  if (beforePublish === null) return NOTHING_HELD;
  const held = new Set<CheckedInput>();
  const refused = new Map<CheckedInput, FanfareError>();
  const ask = async (input: CheckedInput): Promise<void> => {
    const { actor: actorId, scope, recipients, mentions, refs, body: descriptor } = input;
    const what = {
      actionId: null,
      by: identity.userId,
      actorId,
      scope,
      recipients,
      mentions,
      refs,
      descriptor,
    };
    try {
      if (await isHeld(beforePublish, actorId, what)) held.add(input);
    } catch (error) {
      if (!(error instanceof FanfareError)) throw error;
      refused.set(input, error);
    }
  };
  const unpublished = await unpublishedOf(core, inputs);
  for (let from = 0; from < unpublished.length; from += ASKED_AT_ONCE)
    await Promise.all(unpublished.slice(from, from + ASKED_AT_ONCE).map(ask));
  return { held, refused };
}

/** The version of an action that was never edited. */
const FIRST_VERSION = 1;

/**
 * Puts what the host holds into the queue of reports, before it is recorded: whatever interrupts the call, nothing is hidden
 * that is not in the queue. At worst the queue has an entry without content.
 */
function queueHeld({ reports }: Core): (held: readonly Action[]) => Promise<unknown> {
  return (held) =>
    Promise.all(
      held.map(({ id: actionId, actorId }) =>
        reports.hold({ kind: 'action', actionId, actorId }, clock.now(), FIRST_VERSION),
      ),
    );
}

/**
 * A replay returns the action only if the actor may still see it. Hidden, deleted and expired actions are answered alike.
 * Admins see their own hidden actions; a service publishing for somebody has that actor's rights.
 */
function refuseUnseenReplay(identity: Identity, { action, isReplay }: PublishedAction): void {
  if (action.publishAt !== undefined) return;
  const isAdmin = identity.roles.has('admin') && action.actorId === identity.userId;
  if (isReplay && (action.isDeleted || (action.isHidden && !isAdmin)))
    throw new FanfareError(
      'CONFLICT',
      'The idempotency key belongs to an action that was hidden or deleted, or has expired',
    );
}

/** Turns a typed error of one entry into its outcome; any other error fails the whole call. */
function attempt(outcomes: PublishOutcome[], position: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof FanfareError)) throw error;
    outcomes[position] = outcomeOf(error);
  }
}

/** The message is all that an entry has to say where the fault is. */
function outcomeOf({ code, message, issues }: FanfareError): PublishOutcome {
  return {
    action: null,
    isReplay: false,
    error: { code, message: issues.length === 0 ? message : summaryOf(issues) },
  };
}

/**
 * Actions whose time to be published is over, or that would expire before they happen, or have already. A replay stays a replay
 * even after that.
 */
async function lateOf(core: Core, inputs: readonly CheckedInput[]): Promise<ReadonlySet<CheckedInput>> {
  const now = clock.time();
  const over = inputs.filter(
    (input) => isOver(input, now) || (input.expiresAt?.getTime() ?? Infinity) <= startOf(input, now),
  );
  return new Set(await unpublishedOf(core, over));
}

const isOver = ({ publishAt }: CheckedInput, now: number): boolean =>
  publishAt !== null && publishAt.getTime() <= now;

/** From when it can be seen, at the earliest. */
const startOf = ({ publishAt, conducted }: CheckedInput, now: number): number =>
  Math.max(now, (publishAt ?? conducted)?.getTime() ?? now);

function tooLate(input: CheckedInput, path: readonly (string | number)[]): FanfareError {
  if (isOver(input, clock.time())) return badInput('Must be later than now', [...path, 'publishAt']);
  return badInput('Must be later than now and than conducted', [...path, 'expiresAt']);
}

/** Most scheduled actions of one actor. Concurrent calls may exceed it. */
const MAX_SCHEDULED = 1_000;

/** Scheduled actions for which their actor has no room. Replays do not count. */
async function withoutRoom(core: Core, inputs: readonly CheckedInput[]): Promise<ReadonlySet<CheckedInput>> {
  const later = await unpublishedOf(
    core,
    inputs.filter(({ publishAt }) => publishAt !== null),
  );
  const byActor = grouped(later, ({ actor }) => actor);
  const beyond = await Promise.all(
    Array.from(byActor, async ([actor, some]) =>
      some.slice(Math.max(0, MAX_SCHEDULED - (await core.scheduled.count(actor, MAX_SCHEDULED)))),
    ),
  );
  return new Set(beyond.flat());
}

function tooManyScheduled(): FanfareError {
  return new FanfareError(
    'CONFLICT',
    `No more than ${String(MAX_SCHEDULED)} actions of one actor can be scheduled`,
  );
}

/** Actions beyond the quota. Replays do not count, neither of earlier calls nor of earlier entries. */
async function refusedOf(
  core: Core,
  { granted }: GrantedPublications,
  inputs: readonly CheckedInput[],
): Promise<ReadonlySet<CheckedInput>> {
  return new Set(beyondGrant(granted, await unpublishedOf(core, inputs)));
}

/** Actions whose actor lacks the group that the scope needs. A replay stays a replay even after the actor has left it. */
async function grouplessOf(
  core: Core,
  inputs: readonly CheckedInput[],
  groups: Groups,
): Promise<ReadonlySet<CheckedInput>> {
  const groupless = inputs.filter(({ scope, actor }) => lacksGroup(scope, groups.get(actor) ?? null));
  return new Set(await unpublishedOf(core, groupless));
}

/** The publications that are no replays, in their order. */
async function unpublishedOf({ publishing }: Core, inputs: readonly CheckedInput[]): Promise<CheckedInput[]> {
  if (inputs.length === 0) return [];
  const published = await publishing.published(inputs.map(publicationOf));
  return inputs.filter((_, index) => published[index] !== true);
}

function publicationOf({ actor, idempotencyKey }: CheckedInput): PublicationKey {
  return { actorId: actor, idempotencyKey };
}

const isNow = ({ publishAt }: Pick<Action, 'publishAt'>): boolean => publishAt === undefined;

/** Inserts the actions. A worker of this process delivers them at once, if it has room; otherwise workers are woken. */
async function record(core: Core, given: readonly NewAction[]): Promise<readonly PublishedAction[]> {
  const blocked = await blockedWithin(core, given);
  const actions = given.map((action, index): NewAction => {
    const { inVain = new Set<UserId>(), unnamed = new Set<UserId>() } = blocked[index] ?? {};
    const tags = idsWithin(action)
      .filter((id) => unnamed.has(id))
      .map(blockTag);
    return { ...action, inVain, ...(tags.length === 0 ? {} : { unnamed: tags }) };
  });
  const insert = async (claim: NewClaim | null) => {
    const [recorded] = await Promise.all([
      core.publishing.insert(actions, queueHeld(core), claim),
      nameRefs(core, actions.filter(isNow)),
    ]);
    return recorded;
  };
  const isLive = actions.some((action) => action.lane === 'LIVE' && isNow(action));
  const { inserted, claims } = await (isLive ? core.ownWorker.claimBy(insert) : insert(null));
  const count = inserted.filter(({ action, isReplay }) => !isReplay && isNow(action)).length;
  if (count > 0) core.onPublished(count);
  if (count > claims.length) core.workSignal.notify('fan-out');
  return inserted;
}

function check(
  identity: Identity,
  input: PublishActionInput,
  path: readonly (string | number)[],
): CheckedInput {
  const checked = validate(inputSchema, { ...input }, path);
  const actor = checked.actorId ?? identity.userId;
  actingAs(identity, actor, 'publish');
  if (checked.conducted != null && checked.conducted.getTime() > clock.time() + MAX_FUTURE_MS)
    throw badInput('Must not be more than five minutes in the future', [...path, 'conducted']);
  requireWithinYear(checked.publishAt, path);
  const body = checkDescriptor(checked.descriptor, [...path, 'descriptor']);
  if (!identity.roles.has('service')) refuseOtherVoices(body, actor, [...path, 'descriptor']);
  return { ...checked, actor, body, ...withOwnRefs(checked.refs, body) };
}

function newAction(
  input: CheckedInput,
  options: {
    readonly groups: Groups;
    readonly recorded: Date;
    readonly lane: Lane;
    readonly isImported: boolean;
    readonly isOfHost: boolean;
    readonly isHeld: boolean;
  },
): NewAction {
  const { groups, ...when } = options;
  const { recorded } = when;
  const { scope, actor } = input;
  const { publishAt } = input;
  const conducted = publishAt ?? input.conducted ?? recorded;
  return {
    actorId: actor,
    conducted,
    ...when,
    idempotencyKey: input.idempotencyKey,
    scope,
    audience: audienceKeys({ ...input, descriptor: input.body }, groups.get(actor) ?? null),
    mentions: input.mentions,
    recipients: input.recipients,
    ...{ refs: input.refs, givenRefs: input.givenRefs },
    refIds: refIdsOf(input.refs, actor),
    descriptor: input.body,
    expiresAt: input.expiresAt,
    ...(publishAt === null ? {} : { publishAt }),
    latest: baseRelevancy({ conducted, recorded }),
  };
}
