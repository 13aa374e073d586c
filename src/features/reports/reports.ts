import { z } from 'zod';
import type { ChangeCore, Core } from '../../core/core.ts';
import type { Action, ActionId, UserId } from '../../domain/action.ts';
import { decodeRow, encodeRow } from '../../domain/cursor.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { interactionVersion, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import { areBeside, idBeside } from '../../domain/stored-id.ts';
import { MODERATORS, moderates } from '../../domain/viewer.ts';
import { lineSchema, textSchema } from '../../descriptors/text-schema.ts';
import { askedPage, collectPage } from '../../feed/page/paging.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import { ACTION, load, ownLoad } from '../../feed/session/load.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';
import { readMember } from '../directory/read-directory.ts';
import { findShown, INTERACTION } from '../interactions/read-interactions.ts';
import { carryOutOnInteraction } from '../interactions/moderate-interaction.ts';
import { noSuchInteraction } from '../interactions/settle-interaction.ts';
import { automatic, carryOutOnAction, HELD_BY_HOST } from '../moderation/moderate-action.ts';
import type { Page, PageArgs } from '../../core/shapes.ts';
import { requireOneOf, validate } from '../../core/validate.ts';
import type { Report, ReportState, ReportTarget, Verdict } from '../../domain/report.ts';
import type { ListedReport, ReportPosition } from './store.ts';

export const MAX_REASON_LENGTH = 200;
export const MAX_REPORT_TEXT = 2_000;

const inputSchema = z.strictObject({
  reason: lineSchema(MAX_REASON_LENGTH),
  text: textSchema(MAX_REPORT_TEXT)
    .nullish()
    .transform((text) => (text == null || text === '' ? null : text)),
});
const outcomeSchema = textSchema(MAX_REPORT_TEXT).min(1, 'Must not be empty');

/** Exactly one of the ids. */
export interface ReportInput {
  readonly actionId: ActionId | null;
  readonly interactionId: InteractionId | null;
  readonly memberId: UserId | null;
  readonly reason: string;
  readonly text?: string | null | undefined;
}

/**
 * Reports something to the moderators. Repeated by the same member, it changes nothing.
 * @throws FanfareError BAD_USER_INPUT, also for what is one's own; NOT_FOUND when the member may not see it
 */
export async function report(core: Core, session: ReaderSession, input: ReportInput): Promise<Report> {
  const { reason, text } = validate(inputSchema, { reason: input.reason, text: input.text });
  const { target, version } = await reportable(core, session, input);
  const by = session.identity.userId;
  if (target.actorId === by) throw badInput('Must be of somebody else');
  const entry = { by, at: clock.now(), version, reason, text };
  const made = await core.reports.add(target, entry, core.reportHideAfter);
  // A repeated report does it if an earlier one was interrupted.
  await carryOut(core, made);
  return made;
}

interface Reportable {
  readonly target: ReportTarget;
  /** The version that the member sees. */
  readonly version: number;
}

async function reportable(
  core: Core,
  session: ReaderSession,
  { actionId, interactionId, memberId }: ReportInput,
): Promise<Reportable> {
  if ([actionId, interactionId, memberId].filter((id) => id !== null).length !== 1)
    throw badInput('Must be exactly one of actionId, interactionId and memberId');
  if (actionId !== null) {
    const { actorId, version } = await requireAction(session, actionId);
    return { target: { kind: 'action', actionId, actorId }, version };
  }
  if (interactionId !== null) {
    const found = await findShown(core, session, interactionId);
    if (found === null) throw noSuchInteraction();
    const { interaction } = found;
    const { actionId: of, actorId } = interaction;
    return {
      target: { kind: 'interaction', interactionId, actionId: of, actorId },
      version: interactionVersion(interaction),
    };
  }
  const member = await readMember(session, memberId ?? '');
  if (member === null) throw new FanfareError('NOT_FOUND', 'There is no such member');
  // A member is not one text that can be edited.
  return { target: { kind: 'member', actorId: member.userId }, version: 0 };
}

/** Upper bound on what is listed of a member that waits for review: the newest. */
export const MOST_IN_REVIEW = 100;
/** The same of actions, which cost more. */
export const MOST_ACTIONS_IN_REVIEW = 20;

/** Content of the reader that waits for review, whatever they ask for. */
const IN_REVIEW = ownLoad({
  batch: ({ reports }, wanted) =>
    Promise.all(
      [...new Set(wanted.map(({ userId }) => userId))].map(async (userId) => ({
        ...{ userId, targets: await reports.inReview(userId, MOST_IN_REVIEW) },
      })),
    ),
  key: ({ userId }) => [userId, ''],
});

async function ownInReview(session: ReaderSession): Promise<readonly ReportTarget[]> {
  return (await session.load(IN_REVIEW, ''))?.targets ?? [];
}

/** The reader's comments on an action that are hidden until a moderator has looked, the newest first. */
export async function commentsInReview(session: ReaderSession, actionId: ActionId): Promise<Interaction[]> {
  const ids = (await ownInReview(session)).flatMap((target) =>
    target.kind === 'interaction' && target.actionId === actionId ? target.interactionId : [],
  );
  const found = await session.loadMany(INTERACTION, ids);
  return found
    .filter((one) => one !== null)
    .filter(({ kind, state }) => kind === 'COMMENT' && state === 'HIDDEN');
}

/** The same of what they have published. */
export async function actionsInReview(session: ReaderSession): Promise<Action[]> {
  const ids = (await ownInReview(session)).flatMap((target) =>
    target.kind === 'action' ? target.actionId : [],
  );
  const found = await session.loadMany(ACTION, ids.slice(0, MOST_ACTIONS_IN_REVIEW));
  return found.filter((one) => one !== null).filter(({ isHidden, isDeleted }) => isHidden && !isDeleted);
}

/** Hides or shows what the last ruling is about, unless that is done. @returns whether it is there */
async function carryOut(core: ChangeCore, report: Report, by?: UserId): Promise<boolean> {
  const { target, ruling, state, resolvedBy, outcome, open } = report;
  const isOver = state === 'RESOLVED' || state === 'DISMISSED';
  const change = {
    by: by ?? (isOver ? resolvedBy : null) ?? automatic(target.actorId),
    reason: reasonOf(ruling?.verdict ?? null, { outcome, open }),
  };
  if (target.kind === 'action') return carryOutOnAction(core, target.actionId, report, change);
  if (target.kind === 'interaction') return carryOutOnInteraction(core, target.interactionId, report, change);
  return true;
}

function reasonOf(
  verdict: Verdict | null,
  { outcome, open }: Pick<Report, 'outcome' | 'open'>,
): string | null {
  if (verdict === 'HIDDEN') return outcome;
  if (verdict === 'SHOWN') return null;
  return open === 0 ? HELD_BY_HOST : 'Reported by many, until somebody has looked';
}

/** A call carries its ruling out itself. Doing it once more changes nothing. */
const CARRIED_OUT_WITHIN_MS = 10_000;
/** Content that the host holds is queued before it is recorded, and may never be recorded. */
const RECORDED_WITHIN_MS = 3_600_000;
const AT_ONCE = 100;

/** Carries out the rulings of calls that were interrupted. Safe to interrupt, and to run in several processes at once. */
export async function carryOutRulings(core: ChangeCore, now: Date): Promise<void> {
  const before = new Date(now.getTime() - CARRIED_OUT_WITHIN_MS);
  let after: Date | null = null;
  for (;;) {
    const due = await core.reports.ruledBefore(before, after, AT_ONCE);
    for (const { report, dueSince } of due) {
      const isThere = await carryOut(core, report);
      if (!isThere && now.getTime() - dueSince.getTime() > RECORDED_WITHIN_MS)
        await core.reports.carriedOut(report);
    }
    after = due.at(-1)?.dueSince ?? after;
    if (due.length < AT_ONCE) return;
  }
}

/** Takes it to look at it. @throws FanfareError FORBIDDEN, NOT_FOUND, CONFLICT if another has taken it or it is resolved */
export async function takeReport(core: Core, session: ReaderSession, id: string): Promise<Report> {
  const known = await requireReport(core, session, id);
  const { userId } = session.identity;
  const taken = await core.reports.take(id, userId);
  if (taken !== null) return taken;
  const now = (await core.reports.find(id)) ?? known;
  if (now.state === 'TAKEN' && now.takenBy === userId) return now;
  throw new FanfareError(
    'CONFLICT',
    now.state === 'TAKEN' ? 'Somebody else has taken this report' : 'This report is resolved already',
  );
}

/**
 * Ends it. What was hidden only until somebody had looked is shown again if the report is dismissed, and otherwise stays
 * hidden. Repeated, it does what an interrupted call has left.
 * @throws FanfareError FORBIDDEN, NOT_FOUND, BAD_USER_INPUT, CONFLICT if it is resolved by somebody else or in another way
 */
export async function resolveReport(
  core: Core,
  session: ReaderSession,
  id: string,
  { outcome, isDismissed }: { readonly outcome: string; readonly isDismissed: boolean },
): Promise<Report> {
  const words = validate(outcomeSchema, outcome, ['outcome']);
  const known = await requireReport(core, session, id);
  const by = session.identity.userId;
  const at = clock.now();
  const resolved = await core.reports.resolve(id, { by, at, outcome: words, isDismissed });
  const now = resolved ?? (await core.reports.find(id)) ?? known;
  const isDone =
    now.resolvedBy === by && now.outcome === words && now.state === (isDismissed ? 'DISMISSED' : 'RESOLVED');
  if (!isDone) throw new FanfareError('CONFLICT', 'This report is resolved already');
  await carryOut(core, now, by);
  return now;
}

/** A report, of which members see only their own entries. */
const REPORT = load({
  batch: ({ reports }, ids, request) => {
    const identity = request?.identity ?? null;
    return reports.findByIds(ids, identity === null || moderates(identity) ? null : identity.userId);
  },
  key: ({ id }) => id,
});

/** A report, for moderators and members who have reported the same; `null` for others. One read for all of a turn of the event loop. */
export async function getReport(session: ReaderSession, id: string): Promise<Report | null> {
  const { userId } = session.identity;
  const found = await session.load(REPORT, id);
  return found === null || !areBeside(found.target.actorId, userId) ? null : found;
}

async function requireReport({ reports }: Core, { identity }: ReaderSession, id: string): Promise<Report> {
  requireOneOf(identity, MODERATORS);
  const found = await reports.find(id);
  if (found === null || !areBeside(found.target.actorId, identity.userId))
    throw new FanfareError('NOT_FOUND', 'There is no such report');
  return found;
}

/**
 * By number of open reports, then the oldest first. While somebody pages, nothing is missed that is reported more often, and nothing
 * comes twice. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function readReports(
  { reports }: Core,
  { identity }: ReaderSession,
  args: PageArgs & { readonly state?: ReportState | null | undefined },
): Promise<Page<Report>> {
  requireOneOf(identity, MODERATORS);
  const { userId } = identity;
  const state = args.state ?? null;
  const list = idBeside(userId, `reports:${state ?? ''}`);
  const page = await collectPage<ReportPosition, ListedReport, ListedReport>({
    page: askedPage(args, (cursor) => positionIn(list, cursor)),
    scan: (stretch) => reports.list(userId, state, stretch),
    select: (found) => Promise.resolve(found),
    cursorOf: ({ open, openedAt, id, asOf }) => encodeRow(list, [open, openedAt, id, asOf]),
  });
  return { ...page, edges: page.edges.map(({ cursor, node }) => ({ cursor, node: node.report })) };
}

function positionIn(list: string, cursor: string): ReportPosition {
  const [open, openedAt, id, asOf] = decodeRow(list, cursor, ['number', 'time', 'id', 'time']);
  return { open, openedAt, id, asOf };
}
