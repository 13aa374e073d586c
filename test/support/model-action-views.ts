import { openSpanOf as openSpan } from '../../src/domain/follow-span.ts';
import type { Action } from '../../src/domain/action.ts';
import type { Interaction } from '../../src/domain/interaction.ts';
import { expect } from 'vitest';
import { liveName } from '../../src/graphql/live-selection.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { Page, PageArgs } from '../../src/core/shapes.ts';
import {
  engagementOf,
  followersOf,
  interactionsFor,
  isAssigned,
  openSpanOf,
  pinnedFor,
  type Model,
  type ModelAction,
  type ModelInteraction,
  type ModelReader,
} from './model.ts';
import { found, type Run } from './model-run.ts';
import { FOLLOW } from '../../src/feed/loads/own-follows.ts';
import { OWN_INTERACTIONS } from '../../src/features/interactions/read-interactions.ts';
import { REF } from '../../src/feed/loads/names.ts';

/**
 * Follows the cursors to the end, with pages of this size. A page that is not full must be the last. What is above an entry, and the
 * end, must be the same upwards.
 */
export async function readAll<T extends object>(
  read: (args: PageArgs) => Promise<Page<T>>,
  size: number,
): Promise<T[]> {
  const edges: Page<T>['edges'][number][] = [];
  let after: string | null = null;
  for (;;) {
    const page: Page<T> = await read({ first: size, after });
    edges.push(...page.edges);
    if (!page.hasMore) break;
    if (page.edges.length < size) throw new Error('A page before the last is not full');
    after = page.end;
  }
  const nodes = edges.map(({ node }) => node);
  for (const end of new Set([edges.length, Math.ceil((edges.length * 2) / 3)])) {
    const page = await read({ last: size, before: edges[end]?.cursor });
    const [up, down] = [page.edges.map(({ node }) => node), nodes.slice(Math.max(0, end - size), end)];
    expect([end, up.map(named), page.hasMore]).toEqual([end, down.map(named), end > size]);
  }
  return nodes;
}

/** What tells nodes of a list apart: the rest may change while it is read. */
function named(node: object): unknown {
  const { id, actionId, groupKey, group } = node as Readonly<Record<string, unknown>>;
  return id ?? actionId ?? groupKey ?? (group as { readonly key: string }).key;
}

/** Whether a ref got its name after the action was given it: then the action's copy is to have followed. */
function isCarried({ model }: Run, refId: string, actionId: string): boolean {
  const name = model.names.get(refId);
  const action = found(model.actions.find(({ id }) => id === actionId));
  return name !== undefined && action.refsGiven < name.given;
}

function shownInteraction(interaction: Interaction): unknown[] {
  const { id, kind, reaction, actorId, at, state, text, parentId, editedAt } = interaction;
  return [
    ...[id, kind, reaction, actorId, at.toISOString(), state],
    ...[text, parentId, editedAt?.toISOString() ?? null],
  ];
}

function expectedInteraction(interaction: ModelInteraction): unknown[] {
  const { id, kind, reaction, actorId, at, state, text, parentId, editedAt } = interaction;
  return [
    ...[id, kind, reaction, actorId, new Date(at).toISOString(), state],
    ...[text, parentId, editedAt === null ? null : new Date(editedAt).toISOString()],
  ];
}

/** What the server shows of an action. */
export async function actualAction(
  {
    run,
    session,
    pageSize,
  }: { readonly run: Run; readonly session: ReaderSession; readonly pageSize: number },
  action: Action,
): Promise<unknown> {
  const { services } = run.parts;
  const { id, isHidden, engagement, version, expiresAt } = action;
  const own = await session.load(OWN_INTERACTIONS, id);
  const listed = (parentId?: string | null): Promise<Interaction[]> =>
    readAll((args) => services.listInteractions(session, id, { ...args, parentId }), pageSize);
  const interactions = await listed();
  const parents = new Set(interactions.map(({ parentId }) => parentId));
  const threads = await Promise.all(
    Array.from(parents, async (parentId) => [parentId ?? 'none', idsOf(await listed(parentId))] as const),
  );
  return {
    ...{ isHidden, version, expiresAt: expiresAt?.toISOString() ?? null, ...engagement },
    done: [...(own?.kinds ?? [])].sort(),
    given: own?.reactions ?? [],
    interactions: interactions.map(shownInteraction),
    threads: Object.fromEntries(threads),
    names: await Promise.all(action.refs.map(async (ref) => (await liveName(session, ref.id)) ?? ref.label)),
    copies: action.refs.flatMap((ref) => (isCarried(run, ref.id, id) ? [ref.label] : [])),
  };
}

/** What the definition says of it. */
export function expectedAction(run: Run, reader: ModelReader, action: ModelAction): unknown {
  const { names } = run.model;
  const { id, isHidden, version, expiresAt, refIds } = action;
  const interactions = interactionsFor(run.model, reader, action);
  const parents = new Set(interactions.map(({ parentId }) => parentId));
  const threads = Array.from(parents, (parentId) => [
    parentId ?? 'none',
    idsOf(interactions.filter((one) => one.parentId === parentId)),
  ]);
  const own = action.interactions.filter(
    ({ actorId, state }) => actorId === reader.userId && state === 'VISIBLE',
  );
  return {
    ...{ isHidden, version, expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() },
    ...engagementOf(action),
    done: [...new Set(own.map(({ kind }) => kind))].sort(),
    given: own.flatMap(({ reaction }) => reaction ?? []).sort(),
    interactions: interactions.map(expectedInteraction),
    threads: Object.fromEntries(threads),
    names: refIds.map((refId) => names.get(refId)?.label ?? refId),
    copies: refIds.flatMap((refId) => (isCarried(run, refId, id) ? [names.get(refId)?.label] : [])),
  };
}

function idsOf(interactions: readonly { readonly id: string }[]): string[] {
  return interactions.map(({ id }) => id);
}

/** What the server shows of a ref. */
export async function actualRef(
  { parts }: Run,
  session: ReaderSession,
  { refId, label }: { readonly refId: string; readonly label: (id: string) => string },
): Promise<unknown> {
  const [pinned, ref, follow] = await Promise.all([
    parts.services.readPinned(session, refId),
    session.load(REF, refId),
    session.load(FOLLOW, refId),
  ]);
  const span = openSpan(follow);
  return {
    pinned: pinned.map(({ id }) => label(id)),
    followers: ref?.followerCount ?? 0,
    follow: span && {
      since: span.since.toISOString(),
      types: span.types === undefined ? null : [...span.types].sort(),
      isAssigned: follow?.isAssigned === true,
    },
  };
}

/** What the definition says of it. */
export function expectedRef(
  { model }: Run,
  reader: ModelReader,
  { refId, label }: { readonly refId: string; readonly label: (id: string) => string },
): unknown {
  const span = openSpanOf(model, reader.userId, refId);
  return {
    pinned: pinnedFor(model, reader, refId).map(({ id }) => label(id)),
    followers: followersOf(model, refId),
    follow:
      span === undefined
        ? null
        : {
            since: new Date(span.since).toISOString(),
            types: span.types === null ? null : [...span.types].sort(),
            isAssigned: isAssigned(model, reader.userId, refId),
          },
  };
}

/** What an admin is shown to moderate, of what has happened in this run. */
export async function actualTexts({ parts, model }: Run): Promise<unknown> {
  const admin = parts.session('root', 'admin');
  const texts = await readAll((args) => parts.services.latestInteractions(admin, args), 50);
  const actionIds = new Set(model.actions.map(({ id }) => id));
  return texts.filter(({ actionId }) => actionIds.has(actionId)).map(shownInteraction);
}

/** What was recorded last comes first. */
export function expectedTexts({ actions }: Model): unknown {
  return actions
    .filter(({ isDeleted }) => !isDeleted)
    .flatMap(({ interactions }) => interactions)
    .filter(({ text, state }) => text !== null && state !== 'REMOVED')
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map(expectedInteraction);
}
