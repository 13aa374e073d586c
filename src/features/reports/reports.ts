import { z } from 'zod';
import type { Core } from '../core.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import { decodeRow, encodeRow } from '../../domain/cursor.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import type { InteractionId } from '../../domain/interaction.ts';
import { areBeside, idBeside } from '../../domain/stored-id.ts';
import { MODERATORS, moderates } from '../../domain/viewer.ts';
import { lineSchema, textSchema } from '../../descriptors/define.ts';
import { collectPage, pageSize } from '../../feed/page/paging.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';
import { readMember } from '../directory/read-directory.ts';
import { findShown } from '../interactions/read-interactions.ts';
import { setInteractionHidden } from '../interactions/moderate-interaction.ts';
import { noSuchInteraction } from '../interactions/settle-interaction.ts';
import { automatic, setActionHidden } from '../moderation/moderate-action.ts';
import type { Page, PageArgs } from '../shapes.ts';
import { requireOneOf, validate } from '../validate.ts';
import type { Report, ReportState, ReportTarget } from '../../domain/report.ts';
import type { ReportPosition } from './store.ts';

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
  const target = await reportable(core, session, input);
  const by = session.identity.userId;
  if (target.actorId === by) throw badInput('Must be of somebody else');
  const made = await core.reports.add(target, { by, at: clock.now(), reason, text }, core.reportHideAfter);
  if (made.isWithheld) await withhold(core, made.target, true);
  return made;
}

async function reportable(
  core: Core,
  session: ReaderSession,
  { actionId, interactionId, memberId }: ReportInput,
): Promise<ReportTarget> {
  if ([actionId, interactionId, memberId].filter((id) => id !== null).length !== 1)
    throw badInput('Must be exactly one of actionId, interactionId and memberId');
  if (actionId !== null) {
    const { actorId } = await requireAction(session, actionId);
    return { kind: 'action', actionId, actorId };
  }
  if (interactionId !== null) {
    const found = await findShown(core, session, interactionId);
    if (found === null) throw noSuchInteraction();
    const { interaction } = found;
    return {
      kind: 'interaction',
      interactionId,
      actionId: interaction.actionId,
      actorId: interaction.actorId,
    };
  }
  const member = await readMember(session, memberId ?? '');
  if (member === null) throw new FanfareError('NOT_FOUND', 'There is no such member');
  return { kind: 'member', actorId: member.userId };
}

/** Hides what is withheld, or shows it again. Idempotent: a repeated report does it if an earlier one was interrupted. */
async function withhold(core: Core, target: ReportTarget, isHidden: boolean, by?: UserId): Promise<void> {
  const change = {
    by: by ?? automatic(target.actorId),
    reason: isHidden ? 'Reported by many, until somebody has looked' : null,
  };
  if (target.kind === 'action')
    await setActionHidden(core, target.actionId, { kind: isHidden ? 'HIDE' : 'UNHIDE', ...change });
  if (target.kind === 'interaction')
    await setInteractionHidden(core, target.interactionId, {
      kind: isHidden ? 'HIDE_INTERACTION' : 'UNHIDE_INTERACTION',
      ...change,
    });
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
 * hidden.
 * @throws FanfareError FORBIDDEN, NOT_FOUND, BAD_USER_INPUT, CONFLICT if it is resolved in another way
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
  // Before it is resolved, so that a repeated call does what an interrupted one has left.
  if (known.isWithheld && isDismissed) await withhold(core, known.target, false, by);
  const resolved = await core.reports.resolve(id, { by, at: clock.now(), outcome: words, isDismissed });
  if (resolved !== null) return resolved;
  const now = (await core.reports.find(id)) ?? known;
  if (now.resolvedBy === by && now.outcome === words && (now.state === 'DISMISSED') === isDismissed)
    return now;
  throw new FanfareError('CONFLICT', 'This report is resolved already');
}

/** A report, for moderators and members who have reported the same; `null` for others. */
export async function getReport(
  { reports }: Core,
  { identity }: ReaderSession,
  id: string,
): Promise<Report | null> {
  const found = await reports.find(id);
  if (found === null || !areBeside(found.target.actorId, identity.userId)) return null;
  const isOwn = found.reports.some(({ by }) => by === identity.userId);
  return isOwn || moderates(identity) ? found : null;
}

async function requireReport({ reports }: Core, { identity }: ReaderSession, id: string): Promise<Report> {
  requireOneOf(identity, MODERATORS);
  const found = await reports.find(id);
  if (found === null || !areBeside(found.target.actorId, identity.userId))
    throw new FanfareError('NOT_FOUND', 'There is no such report');
  return found;
}

/** By number of open reports, then the oldest first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function readReports(
  { reports }: Core,
  { identity }: ReaderSession,
  args: PageArgs & { readonly state?: ReportState | null | undefined },
): Promise<Page<Report>> {
  requireOneOf(identity, MODERATORS);
  const { userId } = identity;
  const state = args.state ?? null;
  const list = idBeside(userId, `reports:${state ?? ''}`);
  return collectPage<ReportPosition, Report, Report>({
    size: pageSize(args.first),
    after: args.after == null ? null : positionIn(list, args.after),
    scan: (after, limit) => reports.list({ beside: userId, state, after, limit }),
    select: (found) => Promise.resolve(found),
    cursorOf: ({ open, openedAt, id }) => encodeRow(list, [open, openedAt, id]),
  });
}

function positionIn(list: string, cursor: string): ReportPosition {
  const [open, openedAt, id] = decodeRow(list, cursor, ['number', 'time', 'text']);
  return { open, openedAt, id };
}
